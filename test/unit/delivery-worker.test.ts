import { expect, onTestFinished, test } from 'vitest';
import { pauseAfter, startWorker, type Deliveries, type Ending } from '../../src/plugins/delivery/worker.ts';
import { createGate } from '../support/gate.ts';

type Item = { id: number };

/** A worker, stopped after the test. */
function start(kind: Partial<Deliveries<Item>>, claim: Deliveries<Item>['claim']) {
  const log: string[] = [];
  const logAt = (level: string) => (line: unknown) => void log.push(`${level}: ${String(line)}`);
  const worker = startWorker<Item>(
    {
      claim,
      deliver: () => Promise.resolve(undefined),
      toErrorEnding: (item, problem, isMomentary) => ending(`${item.id}: ${problem}, ${String(isMomentary)}`),
      ...{ markTries: 1, pollMs: 1, stopMs: 10_000, texts: { failing: 'failing', recovered: 'recovered' } },
      ...kind,
    },
    { info: logAt('info'), warn: logAt('warn'), error: logAt('error') } as never,
  );
  onTestFinished(worker.stop);
  return { log, stop: worker.stop };
}

const ending = (text: string, mark: () => Promise<unknown> = () => Promise.resolve()): Ending => ({
  ...{ level: 'info', text, mark },
});

/** Claims that return these items, one claim each, and then none. */
const inTurn = (...claims: Item[][]) => {
  const left = [...claims];
  return () => Promise.resolve(left.shift() ?? []);
};

test('claims that fail are logged once after five in a row, and once when they succeed again', async () => {
  let claims = 0;
  const { log } = start({}, async () => {
    claims += 1;
    if (claims < 5 || (claims > 5 && claims < 15)) throw new Error(`no ${claims}`);
    return [];
  });
  await expect.poll(() => claims).toBeGreaterThan(20);
  expect(log).toEqual(['warn: failing: no 10', 'info: recovered']);
});

test('an ending is logged once, and marked again after a failure', async () => {
  let marks = 0;
  const mark = async () => {
    marks += 1;
    if (marks === 1) throw new Error('no database');
  };
  const { log, stop } = start({ deliver: async () => ending('sent', mark), markTries: 3 }, inTurn([{ id: 1 }]));
  await expect.poll(() => marks, { timeout: 10_000 }).toBe(2);
  await stop();
  expect([log, marks]).toEqual([['info: sent'], 2]);
});

test('the ending after an error of a delivery says whether the database failed for a moment', async () => {
  const errors = [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), new Error('a fault')];
  const { log } = start({ deliver: ({ id }) => Promise.reject(errors[id]!) }, inTurn([{ id: 0 }], [{ id: 1 }]));
  await expect.poll(() => log).toEqual(['info: 0: refused, true', 'info: 1: a fault, false']);
});

test('after a full claim the next one follows as soon as a delivery has ended', async () => {
  const { log } = start(
    { slots: 1, pollMs: 3_600_000, deliver: async ({ id }) => ending(String(id)) },
    inTurn([{ id: 1 }], [{ id: 2 }]),
  );
  await expect.poll(() => log).toEqual(['info: 1', 'info: 2']);
});

test('claims get the deliveries in progress, and a stop waits for them', async () => {
  const { opened: ended, open: end } = createGate();
  const seen: unknown[][] = [];
  const deliver = async ({ id }: Item) => {
    await ended;
    return ending(`sent ${id}`);
  };
  const claims = inTurn([{ id: 1 }], [{ id: 2 }]);
  const { log, stop } = start({ deliver }, (inProgress) => {
    seen.push(inProgress);
    return claims();
  });
  await expect.poll(() => seen.length).toBeGreaterThan(2);
  expect(seen.slice(0, 3)).toEqual([[], [{ id: 1 }], [{ id: 1 }, { id: 2 }]]);
  const stopped = stop();
  expect(log).toEqual([]);
  end();
  await stopped;
  expect(log).toEqual(['info: sent 1', 'info: sent 2']);
});

test('a stop waits no longer than it may for deliveries in progress and their marks', async () => {
  const never = () => new Promise<never>(() => undefined);
  for (const deliver of [never, async () => ending('sent', never)]) {
    const { log, stop } = start({ deliver, stopMs: 20 }, inTurn([{ id: 1 }]));
    await expect.poll(() => log.length).toBe(deliver === never ? 0 : 1);
    const late = new Promise((done) => setTimeout(done, 4_000, 'still waits'));
    expect(await Promise.race([stop(), late])).toBeUndefined();
  }
});

test('without a free place nothing is claimed', async () => {
  let asked = 0;
  const { log } = start({}, () => {
    asked += 1;
    return undefined;
  });
  await expect.poll(() => asked).toBeGreaterThan(3);
  expect(log).toEqual([]);
});

test('the leases of deliveries in progress are renewed', async () => {
  const renewed: unknown[][] = [];
  const claims = inTurn([{ id: 7 }]);
  const { opened: ended, open: end } = createGate();
  const deliver = async () => {
    await ended;
    return undefined;
  };
  const renew = async (inProgress: Item[]) => void renewed.push(inProgress);
  start({ deliver, renewal: { everyMs: 5, renew } }, claims);
  await expect.poll(() => renewed.length).toBeGreaterThan(1);
  expect(renewed[0]).toEqual([{ id: 7 }]);
  end();
});

test('the last pause repeats', () => {
  expect([1, 2, 3, 4].map((failures) => pauseAfter([1, 5, 9], failures))).toEqual([1, 5, 9, 9]);
});
