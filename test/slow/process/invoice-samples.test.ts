import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { blocksOf, type Language } from '../../support/documented-samples.ts';
import { changeDate } from '../../support/dates.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { sharedPort, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const port = await sharedPort();

const programs: [Language, string, string[], string][] = [
  [
    'php',
    'php',
    ['php', '-d', 'display_errors=stdout', 'invoice.php'],
    `php -r 'exit(!function_exists("curl_init"));'`,
  ],
  ['ts', 'mts', [resolve('node_modules/.bin/tsx'), 'invoice.mts'], 'true'],
  ['python', 'py', ['python3', '-B', '-W', 'error', 'invoice.py'], 'python3 --version'],
];

function writeSample(language: Language, extension: string) {
  const folder = temporaryFolder();
  for (const [page, file] of [
    ['docs/clients.md', 'client'],
    ['docs/invoicing.md', 'invoice'],
  ] as const) {
    const program = blocksOf(page, language).find((text) => text.split('\n')[0]!.includes(`${file}.${extension}`))!;
    writeFileSync(join(folder, `${file}.${extension}`), program);
  }
  return folder;
}

/** Orders with each status of a participant; returns the amounts to invoice by order, and the orders to leave. */
async function createOrders(me: Provider) {
  const { dateId } = await createBookableDate(me, { course: { price_value: 500 }, capacityMax: 9, capacityWait: 9 });
  const waiting = () => person({ status_id: 3 });
  const confirmed = await bookOrFail(me, dateId);
  const withFee = await bookOrFail(me, dateId);
  const withoutFee = await bookOrFail(me, dateId);
  const one = await bookOrFail(me, dateId, { participants: [person(), person()] });
  await deregister(me, withFee.booking_id, { config: { with_fee: 1 } });
  await deregister(me, withoutFee.booking_id);
  await deregister(me, one.booking_id, { participants: [one.participants[0]!.id] });
  const mayMoveUp = await bookOrFail(me, dateId, { participants: [person(), waiting()] });
  const alone = await bookOrFail(me, dateId, { participants: [waiting()] });

  const { dateId: pastDate } = await createBookableDate(me, { course: { price_value: 99 }, capacityWait: 9 });
  const past = await bookOrFail(me, pastDate, { participants: [person(), waiting(), waiting()] });
  const waitedInVain = await bookOrFail(me, pastDate, { participants: [waiting()] });
  await changeDate(me, pastDate, { startAt: '2026-01-05', endAt: '2026-01-05', deadlineAt: '2026-01-05' });
  return {
    due: [
      [confirmed, '500.00'],
      [withFee, '500.00'],
      [one, '500.00'],
      [past, '99.00'],
    ].map(([summary, amount]) => `${(summary as typeof one).order_id} ${amount as string}`),
    left: [withoutFee, mayMoveUp, alone, waitedInVain].map(({ order_id }) => Number(order_id)),
  };
}

test.for(programs)(
  'the export program in %s invoices neither waiting people nor those deregistered without fee',
  async ([language, extension, [program, ...args], isThere], { skip }) => {
    if (!succeeds(isThere)) return skip(`${language} is missing`);
    const me = await createProvider();
    const { due, left } = await createOrders(me);
    const cwd = writeSample(language, extension);
    const { PATH = '', HOME = '/' } = process.env;
    const env = { PATH, HOME, BASE_URL: `http://127.0.0.1:${port}`, KEY: me.apiKey };
    const run = async () => (await promisify(execFile)(program!, args, { cwd, env })).stdout;

    const output = await run();
    const printed = [...output.matchAll(/^(\d+) .+: (\d+\.\d\d) due from Kari Nordmann \d+$/gm)];
    expect(printed.map(([, id, amount]) => `${id} ${amount}`)).toEqual(due);
    expect(output.match(/^ {2}exported at \d{4}-/gm)).toHaveLength(due.length);
    const open = (await me.get('/v2/orders')).json<{ id: number }[]>();
    expect(open.map(({ id }) => id)).toEqual(left);
    expect(await run()).toBe('');
  },
);
