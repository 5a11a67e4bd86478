import { once } from 'node:events';
import { recordStatements } from '../support/record-statements.ts';
import { buildApp } from '../../src/app.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { measureCost, medians, type Cost } from './cost.ts';
import { expandRecords, recordRequest } from './lists.ts';
import type { BareServer } from './bare.ts';
import { runLoad, assertStatus, warmUp } from './load.ts';
import { pgbench, createScript, isLock } from './pgbench.ts';
import { freePort } from '../support/ports.ts';
import { appOptions, withServer } from './server.ts';
import { forkInSession } from './session.ts';
import { processTreeSeconds } from './usage.ts';

type Length = { rounds: number; seconds: number };

/** Cost of requests other than lists, compared with a reference. */
export type OtherFigures = Cost & { name: string; statements: number; limit: number; share: number };

/** Key look-up only, compared with a minimal server with the same statement. */
export const measureAuth = (subject: Subject, dataset: Dataset, length: Length) =>
  compareWithBare(subject, dataset, { name: 'durations', path: '/v2/durations' }, length);

/** One item by its id, compared with a minimal server that sends the same statements. */
export async function measureItems(subject: Subject, dataset: Dataset, length: Length): Promise<OtherFigures[]> {
  const middleRow = async (table: string, column = 'id') => {
    const text = `select id, ${column} as other from ${table} where provider_id = $1 order by id
      offset (select count(*) / 2 from ${table} where provider_id = $1) limit 1`;
    const { rows } = await subject.database.pool.query<{ id: number; other: number }>(text, [dataset.providerId]);
    return rows[0]!;
  };
  const date = await middleRow('course_dates', 'course_id');
  const paths = {
    'one course': `/v2/courses/${(await middleRow('courses')).id}`,
    'one course date': `/v2/courses/${date.other}/coursedates/${date.id}`,
    'one order': `/v2/orders/${(await middleRow('orders')).id}`,
    'one participant': `/v2/participants/${(await middleRow('participants')).id}`,
  };
  const figures: OtherFigures[] = [];
  for (const [name, path] of Object.entries(paths))
    figures.push(await compareWithBare(subject, dataset, { name, path }, length));
  return figures;
}

/** Measures in turns with a minimal Fastify and pg server that sends the same statements and body. */
async function compareWithBare(
  subject: Subject,
  { apiKey }: Dataset,
  { name, path }: { name: string; path: string },
  { rounds, seconds }: Length,
): Promise<OtherFigures> {
  const headers = { 'x-api-key': apiKey };
  const all = await recordRequest(subject, path, headers);
  return withServer(subject, {}, async ({ base, pid }) => {
    const body = await (await fetch(base + path, { headers })).text();
    const port = await freePort();
    const bare = forkInSession('bare.ts');
    const server: BareServer = { connectionString: subject.url, port, statements: all.map(expandRecords), body };
    bare.send(server);
    try {
      await once(bare, 'message');
      const bareUrl = `http://127.0.0.1:${port}/`;
      const load = { method: 'GET' as const, headers, connections: 8, seconds, status: '200' as const };
      for (const url of [base + path, bareUrl]) await warmUp({ ...load, url }, { rounds });
      const runs: Omit<OtherFigures, 'name' | 'statements'>[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const own = await measureCost(subject, [pid], '200', { ...load, url: base + path });
        const reference = await runLoad({ ...load, url: bareUrl });
        assertStatus('200', reference);
        runs.push({ ...own, limit: reference.perSecond, share: own.perSecond / reference.perSecond });
      }
      return { name, statements: all.length, ...medians(runs) };
    } finally {
      bare.kill();
    }
  });
}

/** Rate of creating courses, compared with pgbench running the same transaction. */
export async function measureCourses(
  subject: Subject,
  { apiKey }: Dataset,
  connections: number,
  length: Length,
): Promise<OtherFigures> {
  const { rounds, seconds } = length;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const createBody = (title: string) => JSON.stringify({ title, price_value: 4900, text_lead: 'Learn to lead' });
  return withServer(subject, {}, async ({ base, pid }) => {
    const runs: Omit<OtherFigures, 'name' | 'statements'>[] = [];
    const { script, sent: statements } = await courseScript(subject, headers, createBody);
    const url = `${base}/v2/courses`;
    const load = { url, method: 'POST' as const, headers, body: createBody('Measured {n}'), connections };
    // Twice as long as for lists, which have a higher rate.
    for (let run = 0; run < 2; run += 1) await warmUp({ ...load, connections: 8 }, length);
    for (let round = 0; round < rounds; round += 1) {
      const own = await measureCost(subject, [pid], '201', { ...load, seconds });
      const { perSecond: limit } = await pgbench(subject, script, connections, seconds);
      runs.push({ ...own, limit, share: own.perSecond / limit });
    }
    const name = `POST courses, ${connections} connection${connections > 1 ? 's' : ''}`;
    return { name, statements, ...medians(runs) };
  });
}

let samples = 0;

async function courseScript(
  { database }: Subject,
  headers: Record<string, string>,
  createBody: (title: string) => string,
) {
  const app = await buildApp({ database, ...appOptions });
  const title = `sample-${process.pid}-${(samples += 1)}`;
  const create = (one: string) =>
    app.inject({ method: 'POST', url: '/v2/courses', headers, payload: createBody(one) }).then(() => undefined);
  // Warms the prepared statements before recording.
  await create(`${title}-first`);
  const sent = await recordStatements(() => create(title));
  await app.close();
  const transaction = sent.slice(sent.findIndex(({ text }) => text.startsWith('begin')));
  const lock = transaction.find(isLock)!;
  const insert = transaction.find(({ text }) => text.startsWith('insert into "courses"'))!;
  const variables = [
    { sample: String(lock.row!['now']), sql: ':now' },
    { sample: title, sql: ':title::text' },
    { sample: String(insert.row!['id'] ?? insert.row!['0']), sql: ':id' },
  ];
  const before = ['\\set title random(1, 1000000000000000)'];
  return { script: createScript(transaction, variables, [lock.name!, insert.name!], before), sent: sent.length };
}

/** PostgreSQL's processor time in ms for one total count. */
export async function measureTotal(subject: Subject, { apiKey }: Dataset, path: string, seconds: number) {
  const sent = await recordRequest(subject, path, { 'x-api-key': apiKey }, { first: true });
  const counting = sent.filter(({ text }) => text.startsWith('select count(*)'));
  const before = processTreeSeconds(subject.pid);
  const { count } = await pgbench(subject, createScript(counting, [], [], []), 1, seconds);
  return ((processTreeSeconds(subject.pid) - before) * 1_000) / count;
}

/** Two processes with four connections each, compared with one process with eight. */
export async function measureTwo(
  subject: Subject,
  { apiKey }: Dataset,
  path: string,
  { rounds, seconds }: Length,
): Promise<OtherFigures> {
  const headers = { 'x-api-key': apiKey };
  const cold = { RESPONSE_CACHE_MB: '0' };
  const statements = (await recordRequest(subject, path, headers)).length;
  return withServer(subject, cold, (first) =>
    withServer(subject, cold, async (second) => {
      const load = { method: 'GET' as const, headers, seconds, status: '200' as const };
      for (const { base } of [first, second]) {
        const { status } = await fetch(base + path, { headers });
        if (status !== 200) throw new Error(`${path} returned ${status}`);
      }
      const loads = [first, second].map(({ base }) => ({ ...load, url: base + path, connections: 4 }));
      await Promise.all(loads.map((load) => warmUp(load, { rounds })));
      const runs: Omit<OtherFigures, 'name' | 'statements'>[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const one = await measureCost(subject, [first.pid], '200', { ...load, url: first.base + path, connections: 8 });
        const both = await measureCost(subject, [first.pid, second.pid], '200', ...loads);
        runs.push({ ...both, limit: one.perSecond, share: both.perSecond / one.perSecond });
      }
      return { name: 'two processes', statements, ...medians(runs) };
    }),
  );
}
