import { fork } from 'node:child_process';
import { once } from 'node:events';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { pause, percentile, waitUntil, type Run } from '../scenario.ts';
import { sendAtRate } from './load.ts';
import { compareArrivals, startReceiver } from './receivers.ts';
import { createSchools, type School, type Schools } from './school.ts';
import { startServer } from './server.ts';

/** Environment of a server that may call receivers on this machine. */
export const withReceivers = ({ env }: Schools) => ({ ...env, WEBHOOK_ALLOW: '127.0.0.0/8' });

export async function createWebhook(base: string, { client }: School, fields: object) {
  const response = await client.post(`${base}/v2/webhooks`, fields);
  if (response.status !== 201) throw new Error(`no webhook: ${response.text}`);
  return (JSON.parse(response.text) as { id: number }).id;
}

/** Ids of the school's events after one. */
export async function readEventIds({ postgres }: Schools, { id }: School, after: number) {
  const client = await postgres.connect('schools');
  const text = 'select id::int as id from events where provider_id = $1 and id > $2 order by id';
  const { rows } = await client.query<{ id: number }>(text, [id, after]);
  await client.end();
  return rows.map((row) => row.id);
}
export const lastEventId = async (schools: Schools) => Math.max(...(await readEventIds(schools, schools.first, 0)));

/** The position moves before the messages are sent. */
const movedBefore = replaceIn(
  'moved-before',
  /webhooks\/deliver\.ts$/,
  'for (const event of page.items) yield {',
  'yield { after: { position: page.position, resyncs: [] } };\n      for (const event of page.items) yield {',
);

/** Negative control: messages that are lost if the position moves early and the server is killed with one in flight. */
export async function loseInKill(run: Run, schools: Schools) {
  const { first } = schools;
  const command = [process.execPath, await bundle('src/main.ts', [movedBefore])];
  const start = () => startServer(run, withReceivers(schools), { command });
  const server = await start();
  const receiver = await startReceiver(run, '127.0.0.1', (n) => n > 1);
  const before = await lastEventId(schools);
  await createWebhook(server.base, first, { url: receiver.url, payload: 'thin' });
  await sendAtRate(50, 200, (n) => first.client.post(`${server.base}/v2/course-tags`, { title: `Control ${n}` }));
  const eventIds = await readEventIds(schools, first, before);
  await waitUntil(() => receiver.arrivals.length > 0, 10_000);
  server.signal('SIGKILL');
  await server.ended;
  await start();
  await waitUntil(() => receiver.arrivals.some(({ eventId }) => eventId === eventIds.at(-1)), 5_000);
  return compareArrivals(receiver, eventIds).lost;
}

const endpointCount = 10;

/** Endpoints on addresses of their own, in another process. */
async function startAcceptingReceivers(run: Run) {
  const addresses = Array.from({ length: endpointCount }, (_, n) => `127.0.1.${n + 1}`);
  const child = fork(await bundle('test/reliability/support/accepting-receivers.ts'), addresses, { execArgv: [] });
  run.onCleanup(() => child.kill('SIGKILL'));
  const [{ urls }] = (await once(child, 'message')) as [{ urls: string[] }];
  const count = async () => {
    child.send('count');
    const [{ messages }] = (await once(child, 'message')) as [{ messages: number }];
    return messages;
  };
  return { urls, count };
}

/** p99 of updates and bookings without webhooks and with ten that get all changes, in turns. */
export async function measureWrites(run: Run, { rounds, seconds }: { rounds: number; seconds: number }) {
  const schools = await createSchools(run, { count: 2 });
  const [first, other] = schools.all as [School, School];
  const { base } = await startServer(run, withReceivers(schools));
  const receivers = await startAcceptingReceivers(run);
  const times = { without: [] as number[], with: [] as number[] };
  let count = 0;
  const write = async (school: School) => {
    const n = (count += 1);
    if (n % 2 === 0) {
      const body = JSON.stringify({ reference: `${n}` });
      const headers = { 'content-type': 'application/json' };
      return school.client.send(`${base}/v2/courses/${school.courseId}`, { method: 'PUT', headers, body });
    }
    const participants = [{ firstname: 'Kari', lastname: 'Nordmann', email: `kari-${n}@people.example` }];
    const body = { coursedate_id: school.dateIds[n % 4], payment_method: 'invoice', participants };
    return school.client.post(`${base}/v2/booking`, body);
  };
  const rounded: { without: number; with: number }[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const p99 = { without: NaN, with: NaN };
    for (const name of ['without', 'with'] as const) {
      const ids: number[] = [];
      const owner = name === 'with' ? first : other;
      for (const url of receivers.urls) ids.push(await createWebhook(base, owner, { url }));
      const perSchool = [first, other].map((school) =>
        sendAtRate(writesPerSecond / 2, seconds * 1_000, () => write(school)),
      );
      const [responses = [], others = []] = await Promise.all(perSchool);
      const failed = [...responses, ...others].find(({ status }) => status !== 200 && status !== 201);
      if (failed) throw new Error(`a write responds ${failed.status} ${failed.text}`);
      const elapsed = responses.map((response) => response.elapsed);
      p99[name] = percentile(elapsed, 0.99);
      if (round > 0) times[name].push(...elapsed);
      for (const id of ids) await owner.client.send(`${base}/v2/webhooks/${id}`, { method: 'DELETE' });
      await pause(200);
    }
    if (round > 0) rounded.push(p99);
  }
  const describe = (all: number[]) =>
    `p99 ${Math.round(percentile(all, 0.99))} ms, median ${Math.round(percentile(all, 0.5))} ms`;
  const messages = await receivers.count();
  return {
    figures: `${times.with.length} writes with ten webhooks ${describe(times.with)} (${messages} messages), without ${describe(times.without)}; `,
    /** The rounds, the most favourable of the webhooks first. */
    ratios: rounded.map((one) => one.with / (one.without + 4)).sort((a, b) => a - b),
  };
}
/** Half of them updates of a course, half bookings. */
const writesPerSecond = 10;
