import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { readMigrations } from '../../../src/database/migration-history.ts';
import { pause, waitUntil, type Scenario } from '../scenario.ts';
import { readCatalog } from '../support/catalog.ts';
import { createClient } from '../support/client.ts';
import { buildWithMigrations } from '../support/older-database.ts';
import { startPostgres, type Postgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

const replicas = 8;
const olderCount = readMigrations().length;
const vouchers = 20_000;
/** Tables changed by the later migrations, in order: a lock on one delays the migration there. */
const changed = ['vouchers', 'courses', 'course_dates', 'outbox', 'admin_memberships'];
/** Migrations of a later build; the first one changes rows. */
const laterMigrations = {
  '9000_rows': `alter table vouchers add column spent numeric(12, 2) default '0' not null;
    update vouchers set spent = amount - balance`,
  '9001_columns': changed
    .slice(1)
    .map((table) => `alter table ${table} add column later text`)
    .join(';\n'),
};
const all = olderCount + Object.keys(laterMigrations).length;

/** Digest of the catalog, and the applied migrations. */
async function readState(postgres: Postgres, database: string) {
  const client = await postgres.connect(database);
  const { rows } = await client.query<{
    applied: number;
    once: boolean;
    spent: string | null;
    counted: number;
  }>(`select
    (select count(*)::int from drizzle.__drizzle_migrations) as applied,
    (select count(*) = count(distinct hash) from drizzle.__drizzle_migrations) as once,
    (select count(*)::int from vouchers) as counted`);
  const state = rows[0]!;
  const { rows: spent } = await client
    .query<{ wrong: number }>('select count(*)::int as wrong from vouchers where spent <> amount - balance')
    .catch(() => ({ rows: [{ wrong: 0 }] }));
  const catalog = await readCatalog(client);
  await client.end();
  return { ...state, catalog, wrong: spent[0]!.wrong };
}
type State = Awaited<ReturnType<typeof readState>>;

/** Creates a database of this build, with vouchers to migrate. */
async function createOlderDatabase(postgres: Postgres) {
  await postgres.create('older');
  await migrateDatabase({ connectionString: postgres.url('older') });
  const client = await postgres.connect('older');
  await client.query(
    `insert into providers (title, slug, created_at, updated_at) values ('Before', 'before', now(), now())`,
  );
  await client.query(
    `insert into vouchers (provider_id, code, amount, balance, created_at, updated_at)
      select 1, 'code-' || n, 1000, 1000 - n % 1000, now(), now() from generate_series(1, $1) n`,
    [vouchers],
  );
  await client.end();
}

const scenario: Scenario = {
  name: 'migrations',
  quick: false,
  async run(run) {
    const rounds = run.quick ? 1 : 20;
    const kills = run.quick ? 1 : 10;
    const postgres = await startPostgres(run, { fsync: 'off' });
    await createOlderDatabase(postgres);
    const folder = buildWithMigrations(run, laterMigrations);
    const [server, command] = [join(folder, 'dist/main.js'), join(folder, 'dist/cli.js')];
    const start = (database: string) => startServer(run, env(database), { command: [process.execPath, server] });
    const before = await readState(postgres, 'older');
    const client = createClient(firstKey);
    run.onCleanup(client.close);
    const failures: string[] = [];
    const env = (database: string) => ({ DATABASE_URL: postgres.url(database), LOG_LEVEL: 'error', ...firstProvider });
    const copy = async (database: string) => {
      const admin = await postgres.connect();
      await admin.query(`create database ${database} template older`).finally(() => admin.end());
    };
    const drop = async (database: string) => {
      const admin = await postgres.connect();
      await admin.query(`drop database ${database} with (force)`).finally(() => admin.end());
    };

    /** Differences from a fully migrated database. */
    let complete: string | undefined;
    function findDifferences({ applied, once: areOnce, catalog, wrong, counted }: State, expected: number) {
      complete ??= catalog;
      return [
        ...(applied === all && areOnce ? [] : [`${applied} migrations applied instead of ${all}, each once`]),
        ...(catalog === complete ? [] : ['the schema differs from that of other databases']),
        ...(wrong === 0 && counted === expected ? [] : [`${wrong} of ${counted} vouchers have a wrong amount spent`]),
      ];
    }
    /** Starts all replicas concurrently, checks the status for the first provider's key, and kills them. */
    async function startAll(database: string, status: number) {
      const results = await Promise.allSettled(Array.from({ length: replicas }, () => start(database)));
      for (const one of results) {
        if (one.status === 'rejected') failures.push(`a replica did not start: ${String(one.reason)}`);
        else if (one.value.hasEnded()) failures.push('a replica exited');
        else if ((await client.get(`${one.value.base}/v2/schools`)).status !== status)
          failures.push('a replica does not respond correctly');
      }
      await Promise.all(
        results.map(async (one) => {
          if (one.status === 'rejected') return;
          one.value.signal('SIGKILL');
          await one.value.ended;
        }),
      );
    }

    for (let round = 0; round < rounds; round += 1) {
      const database = `empty_${round}`;
      await postgres.create(database);
      await startAll(database, 200);
      if (failures.length > 0) return { figures: `stopped in round ${round + 1}`, failures: [...new Set(failures)] };
      failures.push(...findDifferences(await readState(postgres, database), 0));
      const other = await postgres.connect(database);
      const { rows } = await other.query<{ created: number }>('select count(*)::int as created from providers');
      await other.end();
      if (rows[0]!.created !== 1) failures.push(`the first provider was created ${rows[0]!.created} times`);
      await drop(database);
    }
    await copy('newer');
    // No provider is created in a database that has some.
    await startAll('newer', 401);
    failures.push(...findDifferences(await readState(postgres, 'newer'), vouchers));

    let killsDuring = 0;
    let attempts = 0;
    for (; killsDuring < kills && attempts < kills * 3; attempts += 1) {
      const database = `killed_${attempts}`;
      await copy(database);
      const wasMigrating = await killDuringMigration(database, attempts);
      const state = await readState(postgres, database);
      // Each migration is a transaction: with the first one alone, the kill was during the second.
      const isUnchanged = state.applied === olderCount && state.catalog === before.catalog;
      const isBetween = state.applied === olderCount + 1 && state.once && state.wrong === 0;
      // If all migrations are applied the kill came too late; tried again.
      if (wasMigrating && (isUnchanged || isBetween)) killsDuring += 1;
      if (!isUnchanged && !isBetween)
        failures.push(...findDifferences(state, vouchers).map((failure) => `after a kill ${failure}`));
      const restarted = await start(database);
      failures.push(...findDifferences(await readState(postgres, database), vouchers));
      restarted.signal('SIGKILL');
      await restarted.ended;
      await drop(database);
    }
    if (killsDuring < kills)
      failures.push(`only ${killsDuring} of ${kills} kills were during a migration, in ${attempts} attempts`);

    /**
     * Kills a command or server during its migration, with one table locked or at a random moment. Returns true if it
     * held the migration lock and had written to or waited for the table.
     */
    async function killDuringMigration(database: string, attempt: number) {
      const lockedTable = attempt % 2 === 0 ? changed[(attempt / 2) % changed.length] : undefined;
      const other = await postgres.connect(database);
      if (lockedTable !== undefined) await other.query(`begin; lock table ${lockedTable} in access exclusive mode`);
      const program = attempt % 3 === 0 ? [server] : [command, 'migrate'];
      const child = spawn(process.execPath, program, {
        env: { ...process.env, ...env(database), HOST: '127.0.0.1', PORT: '0' },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      const watcher = await postgres.connect();
      const migrating = async () => {
        const { rows } = await watcher.query<{ isAtWork: boolean }>(
          `select case when $2 then wait_event_type = 'Lock' else backend_xid is not null end
              and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory' and l.granted) as "isAtWork"
            from pg_stat_activity a where datname = $1 and application_name = 'course-booking-service migrate'`,
          [database, lockedTable !== undefined],
        );
        return rows;
      };
      const isAtWork = async () => (await migrating()).some((one) => one.isAtWork);
      const waited = await waitUntil(async () => (await isAtWork()) || child.exitCode !== null, 20_000);
      if (lockedTable === undefined) await pause(run.random() * 40);
      const wasMigrating = waited < Infinity && (await isAtWork());
      child.kill('SIGKILL');
      await ended;
      await other.end();
      await waitUntil(async () => (await migrating()).length === 0, 20_000);
      await watcher.end();
      return wasMigrating;
    }

    // Negative controls: concurrent migrations without a lock, and a partly applied one.
    await postgres.create('naive');
    const unlocked = await Promise.allSettled(
      Array.from({ length: replicas }, async () => {
        const other = await postgres.connect('naive');
        await migrate(drizzle({ client: other }), { migrationsFolder: 'migrations' }).finally(() => other.end());
      }),
    );
    const failed = unlocked.filter(({ status }) => status === 'rejected').length;
    if (failed === 0) failures.push('control: unlocked migrations did not fail');
    await copy('half');
    const partial = await postgres.connect('half');
    await partial.query(`alter table vouchers add column spent numeric(12, 2) default '0' not null`);
    await partial.end();
    const found = findDifferences(await readState(postgres, 'half'), vouchers);
    if (found.length < 3) failures.push('control: a partial migration was not detected');

    return {
      figures: [
        `${rounds} times ${replicas} replicas on an empty database and once on an older one with ${vouchers} vouchers`,
        `${killsDuring} kills during a migration in ${attempts} attempts, applied once each`,
        `control: ${failed} of ${replicas} fail without a lock, partial migration detected`,
      ].join(', '),
      failures: [...new Set(failures)],
    };
  },
};
export default scenario;
