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
const differingHeaders = new Set(['date', 'x-request-id', 'connection', 'keep-alive', 'etag', 'content-length']);

const readsAtOnce = 8;

type Request = { method: string; path: string; body?: object };
type Send = (request: Request) => Promise<{ status: number; response: string }>;

/**
 * Sends every read, with each include, and the table of writes of an older build to it and to this one, on equal
 * databases whose school has a row in every table.
 */
export async function compareVersions(run: Run, postgres: Postgres, olderProgram: string) {
  await postgres.create('compared');
  const owner = await createSchool(postgres.url('compared'));
  const client = createClient(owner.me.apiKey);
  run.onCleanup(client.close);
  const start = async (name: string, program: string) => {
    await postgres.execute(`create database ${name} template compared`);
    const env = { DATABASE_URL: postgres.url(name), PUBLIC_URL: 'http://school.example' };
    const { base } = await startServer(run, env, { command: [process.execPath, program] });
    const send: Send = async ({ method, path, body }) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, headers, text } = await client.send(`${base}${path}`, { method, ...sent });
      const kept = Object.entries(headers).filter(([header]) => !differingHeaders.has(header));
      return { status, response: normalize(JSON.stringify([status, kept, text]).replaceAll(base, '')) };
    };
    return { base, send };
  };
  const older = await start('compared_older', olderProgram);
  const newer = await start('compared_newer', 'dist/main.js');
  const document = JSON.parse((await client.get(`${older.base}/openapi.json`)).text) as object;
  const { reads, writes } = listRequests(document, owner.ids);

  const failures: string[] = [];
  const compare = async (request: Request) => {
    const name = `${request.method} ${request.path}`;
    const [before, now] = await Promise.all([older.send(request), newer.send(request)]);
    if (before.response !== now.response && !changedOnPurpose.includes(name))
      failures.push(`${name} differs from the version before: ${before.response} and ${now.response}`);
    return before.status < 300;
  };
  const compareReads = async () => {
    for (let from = 0; from < reads.length; from += readsAtOnce)
      await Promise.all(reads.slice(from, from + readsAtOnce).map(compare));
  };
  if (!run.quick) await compareReads();
  let accepted = 0;
  for (const write of writes) accepted += (await compare(write)) ? 1 : 0;
  await compareReads();
  await newer.send({ method: 'POST', path: '/v2/course-tags', body: { title: 'Only here' } });
  const tags = { method: 'GET', path: '/v2/course-tags' };
  if ((await older.send(tags)).response === (await newer.send(tags)).response)
    failures.push('control: another response was not detected');
  return { figures: `${reads.length} reads and ${writes.length} writes (${accepted} accepted) compared`, failures };
}

async function createSchool(url: string): Promise<Owner> {
  const connection = { connectionString: url };
  await migrateDatabase(connection);
  const times = { acquireMs: 9_000, statementMs: 9_000, writeMs: 9_000 };
  const testApp = await openTestApp(openDatabase({ connection, timezone: settings.timezone, poolSize: 4, ...times }));
  return createOwner(testApp).finally(testApp.close);
}

function listRequests(document: object, ids: Owner['ids']) {
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

/** Without times and keys. */
const normalize = (text: string) =>
  text.replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?/g, 'time').replaceAll(/cbs_[\w-]+/g, 'key');
