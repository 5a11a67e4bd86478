import { openDatabase } from '../../../src/database/client.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { createOwner, fillPath, getEndpoints, readRequests, type Owner } from '../../support/isolation.ts';
import { writeTable } from '../../support/isolation-table.ts';
import { openTestApp, type TestApp } from '../../support/test-app.ts';
import type { Run } from '../scenario.ts';
import { createClient } from './client.ts';
import type { Postgres } from './postgres.ts';
import { settings } from './school.ts';
import { startServer } from './server.ts';

/** Requests whose responses differ on purpose, until the next release. */
const changedOnPurpose: string[] = [];
const differingHeaders = new Set([
  ...['date', 'x-request-id', 'connection', 'keep-alive', 'etag', 'content-length'],
  // Of this build alone.
  ...['x-error-code', 'location'],
]);

const readsAtOnce = 8;

type Request = { method: string; path: string; body?: object };
type Requests = { reads: Request[]; writes: Request[] };

/**
 * Sends every read, with each include, and the table of writes of an older build to it and to this
 * one, on equal databases that this one has migrated, whose school has a row in every table.
 */
export async function compareVersions(run: Run, postgres: Postgres, olderProgram: string) {
  await postgres.create('compared');
  // This build makes the school, so the tables are its own.
  await migrateDatabase({ connectionString: postgres.url('compared') });
  const owner = await createComparedSchool(postgres.url('compared'));
  const start = async (name: string, program: string) => {
    await postgres.execute(`create database ${name} template compared`);
    const env = { DATABASE_URL: postgres.url(name), PUBLIC_URL: 'http://school.example' };
    return (await startServer(run, env, { command: [process.execPath, program] })).base;
  };
  const older = await start('compared_older', olderProgram);
  const newer = await start('compared_newer', 'dist/main.js');
  return compareServers(run, [older, newer], owner, await listRequests(older, owner.ids));
}

/** Sends the same requests to two servers on equal databases, with the key of the school. */
async function compareServers(run: Run, [first, second]: [string, string], { me }: Owner, { reads, writes }: Requests) {
  const client = createClient(me.apiKey);
  run.onCleanup(client.close);
  const send = async (base: string, { method, path, body }: Request) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, headers, text } = await client.send(`${base}${path}`, { method, ...sent });
    const kept = Object.entries(headers).filter(([header]) => !differingHeaders.has(header));
    const timeless = text.replace(/"server_time":"[^"]+"/, '');
    return { status, response: normalize(JSON.stringify([status, kept, timeless]).replaceAll(base, '')) };
  };
  const failures: string[] = [];
  const compare = async (request: Request) => {
    const name = `${request.method} ${request.path}`;
    const [a, b] = await Promise.all([send(first, request), send(second, request)]);
    if (a.response !== b.response && !changedOnPurpose.includes(name))
      failures.push(`${name} differs: ${describeDifference(a.response, b.response)}`);
    return a.status < 300;
  };
  const compareReads = async () => {
    for (let from = 0; from < reads.length; from += readsAtOnce)
      await Promise.all(reads.slice(from, from + readsAtOnce).map(compare));
  };
  if (!run.quick) await compareReads();
  let accepted = 0;
  for (const write of writes) accepted += (await compare(write)) ? 1 : 0;
  await compareReads();
  await client.post(`${second}/v2/course-tags`, { title: 'Only here' });
  const tags = { method: 'GET', path: '/v2/course-tags' };
  if ((await send(first, tags)).response === (await send(second, tags)).response)
    failures.push('control: another response was not detected');
  return { figures: `${reads.length} reads and ${writes.length} writes (${accepted} accepted) compared`, failures };
}

/** The responses around the first difference. */
function describeDifference(a: string, b: string) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 200);
  return `…${around(a)}… and …${around(b)}…`;
}

/** Creates a school that has a row in every table. */
async function createComparedSchool(url: string): Promise<Owner> {
  const connection = { connectionString: url };
  const times = { acquireMs: 9_000, statementMs: 9_000, writeMs: 9_000 };
  const database = openDatabase({ connection, timezone: settings.timezone, poolSize: 4, ...times });
  const testApp = await openTestApp(database);
  return createOwner(testApp).finally(testApp.close);
}

/** Requests of the endpoints that a server documents. */
async function listRequests(base: string, ids: Owner['ids']): Promise<Requests> {
  const document = (await (await fetch(`${base}/openapi.json`)).json()) as object;
  const endpoints = getEndpoints({ app: { swagger: () => document } } as unknown as TestApp);
  const reads = endpoints
    .filter(({ method }) => method === 'GET')
    .flatMap((endpoint) => readRequests(endpoint, ids).map(({ url }) => url))
    .concat('/v2/nothing', '/v2/courses?limit=x&unknown=1', '/v2/orders/x', '/schools?page=x', '/courses')
    .map((path): Request => ({ method: 'GET', path }));
  const writes = writeTable
    .filter(({ route }) => endpoints.some(({ name }) => name === route))
    .flatMap(({ route, bodies }) => {
      const [method, path] = route.split(' ') as [string, string];
      return bodies(ids).map((body): Request => ({ method, path: fillPath(path, ids), body }));
    });
  return { reads, writes };
}

/** Without times, keys and what else is random. */
const normalize = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?/g, 'time')
    .replaceAll(/(cbs|whsec|test)_[\w+/=-]{20,}/g, 'random')
    .replaceAll(/(cursor|duration_ms)\\":[^,}]+/g, '$1');
