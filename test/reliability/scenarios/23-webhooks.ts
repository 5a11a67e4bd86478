import type { ServerResponse } from 'node:http';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, pause, percentile, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { sendAtRate } from '../support/load.ts';
import { compareArrivals, startReceiver } from '../support/receivers.ts';
import { createSchools, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import {
  createWebhook,
  lastEventId,
  loseInKill,
  measureWrites,
  readEventIds,
  withReceivers,
} from '../support/webhooks.ts';

/** Changes a second, each of which is seven messages. */
const rate = { quick: 10, full: 20 };
/** Pauses of the server that stands in for the real one in a quick run, in seconds. */
const quickPauses = [0.5, 1, 2, 4];

const scenario: Scenario = {
  name: 'faulty webhooks and killed workers',
  quick: true,
  async run(run) {
    const [changes, kills, downMs] = run.quick ? [120, 2, 3_000] : [5_000, 10, 60_000];
    const command = run.quick ? [process.execPath, await bundle('src/main.ts', [shorterPauses])] : undefined;
    const schools = await createSchools(run);
    const seen = await observe(run, schools, { changes, kills, downMs, command });
    const entries = Object.entries(seen.endpoints).map(([name, receiver]) => {
      return { name, ...compareArrivals(receiver, seen.eventIds), attempts: receiver.arrivals.length };
    });
    const lostInControl = await loseInKill(run, schools);
    const writes = run.quick ? undefined : await measureWrites(run, { rounds: 5, seconds: 10 });

    const sum = (key: 'lost' | 'disordered' | 'repeated' | 'renamed') =>
      entries.reduce((total, entry) => total + entry[key], 0);
    const [faultP99, killP99] = seen.p99;
    // Of a few messages it is the longest, and a kill leaves a lease of 2 s.
    const maxP99 = run.quick ? 5_000 : 2_000;
    return {
      figures: `${seen.eventIds.length} events to ${entries.length} endpoints in ${seen.seconds} s, ${kills} kills: ${sum('lost')} lost, ${sum('disordered')} out of order, ${sum('renamed')} renamed, ${sum('repeated')} accepted ones repeated; p99 delay of the other endpoint ${faultP99} ms during the faults, ${killP99} ms during the kills; ${writes?.figures ?? ''}control: ${lostInControl} lost in a kill if the position moves before the message`,
      failures: [
        ...entries.flatMap(({ name, lost, disordered, repeated, renamed, attempts }) =>
          failedChecks({
            [`${name}: no event is lost (${lost})`]: lost === 0,
            [`${name}: events arrive in order (${disordered})`]: disordered === 0,
            [`${name}: repeated ones have the same id (${renamed})`]: renamed === 0,
            [`${name}: a kill repeats at most one (${repeated})`]: repeated <= kills,
            [`${name}: the fault occurred (${attempts})`]:
              ['other', 'down'].includes(name) || attempts > seen.eventIds.length,
          }),
        ),
        ...failedChecks({
          // In the middle round, since other programs may slow one of the two turns.
          'writes do not become slower with ten webhooks': writes === undefined || percentile(writes.ratios, 0.5) <= 2,
          [`the p99 delay of another endpoint is small during the faults (${faultP99} ms)`]: faultP99! < maxP99,
          [`and during the kills (${killP99} ms)`]: killP99! < maxP99,
          'every change is committed': seen.eventIds.length >= changes,
          'control: messages are lost if the position moves before the message': lostInControl > 0,
        }),
      ],
    };
  },
};
export default scenario;

const shorterPauses = replaceIn(
  'shorter-pauses',
  /webhooks\/attempt\.ts$/,
  /retries: \[.*\]/,
  `retries: ${JSON.stringify(quickPauses)}`,
);

/** One endpoint for each fault, which occurs at the first messages, and one without. */
async function startReceivers(run: Run) {
  let address = 1;
  const startFaulty = (times: number, fail: (response: ServerResponse) => unknown) =>
    startReceiver(run, `127.0.0.${(address += 1)}`, (n, response) => {
      if (n > times) return true;
      fail(response);
      return false;
    });
  const answer = (times: number, status: number, headers = {}) =>
    startFaulty(times, (response) => response.writeHead(status, headers).end());
  return {
    other: await startReceiver(run, '127.0.0.1'),
    down: await startReceiver(run, `127.0.0.${(address += 1)}`),
    failing: await answer(2, 500),
    hanging: await startFaulty(1, (response) => setTimeout(() => response.destroy(), 30_000).unref()),
    redirecting: await answer(2, 302, { location: 'http://127.0.0.1:1/' }),
    gone: await answer(1, 410),
    limited: await answer(2, 429, { 'retry-after': '2' }),
  };
}

type Options = { changes: number; kills: number; downMs: number; command: string[] | undefined };

async function observe(run: Run, schools: Schools, { changes, kills, downMs, command }: Options) {
  const { first } = schools;
  const options = command ? { command } : {};
  const allowed = withReceivers(schools);
  const start = (port?: number) => startServer(run, allowed, { ...options, ...(port ? { port } : {}) });
  const servers: Server[] = [await start(), await start()];
  const endpoints = await startReceivers(run);
  const before = await lastEventId(schools);
  const ids = new Map<string, number>();
  for (const [name, receiver] of Object.entries(endpoints))
    ids.set(name, await createWebhook(servers[0]!.base, first, { url: receiver.url, payload: 'thin' }));

  const startedAt = Date.now();
  endpoints.down.stop();
  setTimeout(() => void endpoints.down.start(), downMs).unref();
  // Disabled by its 410.
  const switchOn = async () => {
    const url = `${servers[0]!.base}/v2/webhooks/${ids.get('gone')!}`;
    await waitUntil(async () => (await first.client.get(url)).text.includes('"is_active":false'), 30_000);
    await first.client.send(url, { ...json, method: 'PUT', body: '{"is_active":true}' });
  };
  const switched = switchOn();
  const change = async (n: number) => {
    // A request that a kill cuts off is repeated: a tag of the same title is not added again.
    for (;;) {
      const server = servers[n % 2]!;
      const response = await first.client.post(`${server.base}/v2/course-tags`, { title: `Tag ${n}` });
      if (response.status === 200 || response.status === 201) return response;
      await pause(200);
    }
  };
  const half = changes / 2;
  const perSecond = run.quick ? rate.quick : rate.full;
  await sendAtRate(perSecond, (half / perSecond) * 1_000, change);
  await switched;
  const killsStartAt = Date.now();
  const changing = sendAtRate(perSecond, (half / perSecond) * 1_000, (n) => change(n + half));
  for (let n = 0; n < kills; n += 1) {
    await pause(((half / perSecond) * 1_000) / kills - 300);
    const server = servers[n % 2]!;
    server.signal('SIGKILL');
    await server.ended;
    servers[n % 2] = await start(server.port);
  }
  await changing;
  const eventIds = await readEventIds(schools, first, before);
  const isComplete = () => Object.values(endpoints).every((receiver) => compareArrivals(receiver, eventIds).lost === 0);
  await waitUntil(async () => {
    await pause(500);
    return isComplete();
  }, 300_000);
  for (const server of servers) server.signal('SIGKILL');
  const delays = (isCounted: (committedAt: number) => boolean) =>
    endpoints.other.arrivals.filter(({ committedAt }) => isCounted(committedAt)).map(({ delayMs }) => delayMs);
  return {
    eventIds,
    endpoints,
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    p99: [
      percentile(
        delays((at) => at < killsStartAt),
        0.99,
      ),
      percentile(
        delays((at) => at >= killsStartAt),
        0.99,
      ),
    ],
  };
}
const json = { headers: { 'content-type': 'application/json' } };
