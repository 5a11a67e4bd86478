import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { buildApp } from '../../../src/app.ts';
import { openDatabase, type Database } from '../../../src/database/client.ts';
import { applyMigrations, migrateDatabase } from '../../../src/database/migrate.ts';
import { readMigrations } from '../../../src/database/migration-history.ts';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { baselineCommit, readBaseline } from '../../support/migrations.ts';
import { failedChecks, pause, type Run, type Scenario } from '../scenario.ts';
import { readCatalog } from '../support/catalog.ts';
import { createClient, type HttpResponse } from '../support/client.ts';
import { countStatuses, maxElapsed, sendAtRate } from '../support/load.ts';
import { buildWithMigrations, insertOlderRows, olderKey } from '../support/older-database.ts';
import { startPostgres, type Postgres } from '../support/postgres.ts';
import { buildCommit } from '../support/release-build.ts';
import { cli, limits, settings } from '../support/school.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';
import { compareVersions } from '../support/version-comparison.ts';

const execute = promisify(execFile);

/** Lists of the school, and the rows of the tables that they show. */
const lists = { courses: 'courses', participants: 'participants', orders: 'orders', customers: 'customers' };
type Counts = Record<string, number>;

async function countRows(on: Pick<Database['pool'], 'query'>): Promise<Counts> {
  const counts: Counts = {};
  for (const table of Object.values({ ...lists, vouchers: 'vouchers', keys: 'api_keys' })) {
    const { rows } = await on.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table]);
    const [count] = rows[0]!.there ? (await on.query<Count>(`select count(*)::int from ${table}`)).rows : [];
    counts[table] = count?.count ?? 0;
  }
  return counts;
}
type Count = { count: number };

/** Opens the database as the server does, and returns what differs from the rows before the upgrade. */
async function findFaults(url: string, before: Counts) {
  const connection = { connectionString: url };
  const database = openDatabase({ connection, timezone: settings.timezone, poolSize: 4, ...times });
  const app = await buildApp({ database, settings, version: 'test', limits });
  try {
    const after = await countRows(database.pool);
    const { differences } = await checkCounters(database, {});
    const responses = await Promise.all(
      Object.entries(lists).map(async ([list, table]) => {
        const response = await app.inject({ url: `/v2/${list}?limit=250`, headers: { 'x-api-key': olderKey } });
        const items = response.statusCode === 200 ? response.json<unknown[]>().length : -1;
        return items === before[table] ? [] : [`/v2/${list} has ${items} items instead of ${before[table]}`];
      }),
    );
    return [
      ...Object.keys(before).flatMap((table) =>
        after[table] === before[table] ? [] : [`${table} has ${after[table]} rows instead of ${before[table]}`],
      ),
      ...(differences.length === 0 ? [] : [`doctor finds ${differences.length} differences`]),
      ...responses.flat(),
    ];
  } finally {
    await app.close();
    await database.close();
  }
}
const times = { acquireMs: 9_000, statementMs: 9_000, writeMs: 9_000 };

/** Makes a database for each number of applied migrations from the baseline on, and upgrades each. */
async function upgradeEachState(postgres: Postgres) {
  const failures: string[] = [];
  const states: { database: string; before: Counts }[] = [];
  const add = async (database: string, createTables: (client: Client) => Promise<unknown>) => {
    await postgres.create(database);
    const client = await postgres.connect(database);
    await createTables(client);
    await insertOlderRows(client);
    states.push({ database, before: await countRows(client) });
    await client.end();
  };
  const all = readMigrations();
  for (let applied = readBaseline().length; applied <= all.length; applied += 1)
    await add(`state_${applied}`, (client) => applyMigrations(client, all.slice(0, applied)));

  let expected: string | undefined;
  for (const { database, before } of states) {
    await migrateDatabase({ connectionString: postgres.url(database) });
    const client = await postgres.connect(database);
    const catalog = await readCatalog(client).finally(() => client.end());
    expected ??= catalog;
    const faults = await findFaults(postgres.url(database), before);
    if (catalog !== expected) faults.push('the schema differs');
    failures.push(...faults.map((fault) => `${database}: ${fault}`));
  }
  const { database, before } = states.at(-1)!;
  await dropRow(postgres, database);
  if ((await findFaults(postgres.url(database), before)).length < 2)
    failures.push('control: a lost row was not detected');
  return { figures: `${states.length} states upgraded with rows in ${Object.keys(before).length} tables`, failures };
}

async function dropRow(postgres: Postgres, database: string) {
  const client = await postgres.connect(database);
  await client.query('delete from participants where id = 1').finally(() => client.end());
}

/** Upgrades the database of a server of the build of the baseline while it gets requests. */
async function upgradeUnderLoad(run: Run, postgres: Postgres) {
  const before = baselineCommit;
  const folder = await buildCommit(run, before);
  if (folder === undefined) return { figures: '', failures: [], skipped: `the history does not have ${before}` };
  await postgres.create('live');
  const env = { DATABASE_URL: postgres.url('live'), PUBLIC_URL: 'http://school.example', ...firstProvider };
  const older = await startServer(run, env, { command: [process.execPath, `${folder}/dist/main.js`] });
  const client = createClient(firstKey);
  run.onCleanup(client.close);
  const create = async (path: string, fields: object) => {
    const { text } = await client.post(`${older.base}${path}`, fields);
    return JSON.parse(text) as { course_id: number; coursedate_id: number };
  };
  const { course_id: courseId } = await create('/v2/courses', { title: 'First aid', price_value: 100 });
  const date = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 1_000_000 };
  const { coursedate_id: dateId } = await create(`/v2/courses/${courseId}/coursedates`, date);
  const send = (base: string, n: number): Promise<HttpResponse> =>
    n % 3 === 0
      ? client.post(`${base}/v2/booking`, {
          coursedate_id: dateId,
          payment_method: 'invoice',
          participants: [
            { firstname: 'Kari', lastname: 'Nordmann', email: `kari-${base.slice(-5)}-${n}@people.example` },
          ],
        })
      : client.get(`${base}/v2/${n % 3 === 1 ? 'courses' : 'coursedates'}?limit=10`);

  const stopped = new AbortController();
  const load = sendAtRate(30, stopped.signal, (n) => send(older.base, n));
  await pause(1_500);
  const migrated = await cli(env, 'migrate');
  await pause(1_500);
  const newer = await startServer(run, env);
  const newerLoad = sendAtRate(30, stopped.signal, (n) => send(newer.base, n));
  await pause(3_000);
  stopped.abort();
  const [olderResponses, newerResponses] = await Promise.all([load, newerLoad]);
  const responses = [...olderResponses, ...newerResponses];
  const booked = responses.filter(({ status }) => status === 201).length;
  const database = await postgres.connect('live');
  const { rows } = await database.query<{ count: number }>('select count(*)::int as count from participants');
  const doctor = await cli(env, 'doctor', '--only', 'data');
  const failures = failedChecks({
    'the command migrates': migrated.code === 0,
    'the older server is ready afterwards': (await client.get(`${older.base}/ready`)).status === 200,
    'no request fails': responses.every(({ status }) => status === 200 || status === 201),
    'each acknowledged booking is stored once': rows[0]!.count === booked,
    'doctor finds no difference': doctor.code === 0,
  });
  // An incompatible change makes requests of the older server fail.
  await database.query('alter table courses rename column title to name').finally(() => database.end());
  const { status } = await client.get(`${older.base}/v2/courses?limit=11`);
  if (status === 200) failures.push('control: a renamed column was not detected');
  const figures =
    `${before} served ${olderResponses.length} requests during the upgrade and after it ` +
    `(${countStatuses(olderResponses)}; at most ${maxElapsed(olderResponses)} ms), the new version ${newerResponses.length} beside it`;
  const compared = await compareVersions(run, postgres, `${folder}/dist/main.js`);
  return { figures: `${figures}; ${compared.figures}`, failures: [...failures, ...compared.failures] };
}

/** Migrates while a transaction has read a table that changes: other readers must not wait behind the migration. */
async function upgradeBehindReader(run: Run, postgres: Postgres) {
  await postgres.create('blocked');
  await migrateDatabase({ connectionString: postgres.url('blocked') });
  const folder = buildWithMigrations(run, { '9000_one': 'alter table courses add column one text' });
  const [holder, reader] = [await postgres.connect('blocked'), await postgres.connect('blocked')];
  await reader.query(`set statement_timeout = '3s'`);
  const hold = () => holder.query('begin; select count(*) from courses');
  const readFor = async (milliseconds: number) => {
    let slowest = 0;
    for (const end = performance.now() + milliseconds; performance.now() < end;) {
      const startedAt = performance.now();
      await reader.query('select count(*) from courses').catch(() => undefined);
      slowest = Math.max(slowest, performance.now() - startedAt);
      await pause(50);
    }
    return Math.round(slowest);
  };
  await hold();
  const env = { ...process.env, DATABASE_URL: postgres.url('blocked') };
  const migrated = execute(process.execPath, [join(folder, 'dist/cli.js'), 'migrate'], { env });
  const slowest = await readFor(5_000);
  await holder.query('commit');
  const { stdout } = await migrated;

  await hold();
  const locker = await postgres.connect('blocked');
  const locked = locker.query('begin; lock table courses in access exclusive mode; commit').catch(() => undefined);
  const control = await readFor(2_000);
  await holder.query('commit');
  await locked;
  for (const client of [holder, reader, locker]) await client.end();
  const failures = failedChecks({
    'the migration ends after the transaction': stdout === 'Applied 1 migrations\n',
    'a reader waits for 2.5 s at most': slowest < 2_500,
    [`control: without a time limit of the lock a reader waits for 3 s, not ${control} ms`]: control >= 2_900,
  });
  return { figures: `a reader waits for ${slowest} ms at most behind a migration that gets no lock`, failures };
}

const scenario: Scenario = {
  name: 'upgrades',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    const states = await upgradeEachState(postgres);
    const blocked = await upgradeBehindReader(run, postgres);
    const { skipped, ...live } = await upgradeUnderLoad(run, postgres);
    return {
      figures: [states.figures, blocked.figures, live.figures].filter(Boolean).join('; '),
      failures: [...states.failures, ...blocked.failures, ...live.failures],
      ...(skipped === undefined ? {} : { skipped }),
    };
  },
};
export default scenario;
