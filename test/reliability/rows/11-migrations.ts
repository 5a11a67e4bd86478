import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { pause, until, type Row, type Run } from '../row.ts';
import { clientOf } from '../support/client.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPostgres, type Postgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

const replicas = 8;
/** Number of migrations before vouchers got `spent_before`. */
const older = 9;
const vouchers = 20_000;
/** Tables changed by the later migrations, in order: a lock on one delays the migration there. */
const changed = ['vouchers', 'courses', 'course_dates', 'outbox', 'admin_memberships'];

/** Digest of the catalog, and the applied migrations. */
async function stateOf(postgres: Postgres, database: string) {
  const client = await postgres.connect(database);
  const { rows } = await client.query<{
    applied: number;
    once: boolean;
    catalog: string;
    spent: string | null;
    counted: number;
  }>(`select
    (select count(*)::int from drizzle.__drizzle_migrations) as applied,
    (select count(*) = count(distinct hash) from drizzle.__drizzle_migrations) as once,
    (select count(*)::int from vouchers) as counted,
    md5(concat(
      (select string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default), ',' order by table_name, column_name)
        from information_schema.columns where table_schema = 'public'),
      (select string_agg(concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)), ',' order by conrelid::regclass::text, conname)
        from pg_constraint where connamespace = 'public'::regnamespace),
      (select string_agg(indexdef, ',' order by indexdef) from pg_indexes where schemaname = 'public'),
      (select string_agg(concat_ws(' ', tgrelid::regclass, pg_get_triggerdef(oid)), ',' order by tgrelid::regclass::text, tgname)
        from pg_trigger where not tgisinternal),
      (select string_agg(prosrc, ',' order by proname) from pg_proc where pronamespace = 'public'::regnamespace)
    )) as catalog`);
  const state = rows[0]!;
  const { rows: spent } = await client
    .query<{ wrong: number }>('select count(*)::int as wrong from vouchers where spent_before <> amount - balance')
    .catch(() => ({ rows: [{ wrong: 0 }] }));
  await client.end();
  return { ...state, wrong: spent[0]!.wrong };
}
type State = Awaited<ReturnType<typeof stateOf>>;

/** Creates a database at an older schema version, with vouchers to migrate. */
async function makeOlder(run: Run, postgres: Postgres) {
  const migrationsFolder = temporaryFolder(run);
  cpSync('migrations', migrationsFolder, { recursive: true });
  const file = join(migrationsFolder, 'meta/_journal.json');
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: unknown[] };
  writeFileSync(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, older) }));
  await postgres.create('older');
  const client = await postgres.connect('older');
  await migrate(drizzle({ client }), { migrationsFolder });
  await client.query(
    `insert into providers (title, slug, created_at, updated_at) values ('Before', 'before', now(), now())`,
  );
  await client.query(
    `insert into vouchers (provider_id, code, amount, balance, created_at, updated_at)
      select 1, 'code-' || n, 1000, 1000 - n % 1000, now(), now() from generate_series(1, $1) n`,
    [vouchers],
  );
  await client.end();
  return journal.entries.length;
}

const row: Row = {
  name: 'migrations',
  quick: true,
  async run(run) {
    const rounds = run.quick ? 1 : 20;
    const kills = run.quick ? 1 : 10;
    const postgres = await startPostgres(run, { fsync: 'off' });
    const all = await makeOlder(run, postgres);
    const before = await stateOf(postgres, 'older');
    const client = clientOf(firstKey);
    run.afterwards(client.close);
    const faults: string[] = [];
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
    function lookAt({ applied, once: areOnce, catalog, wrong, counted }: State, expected: number) {
      complete ??= catalog;
      return [
        ...(applied === all && areOnce ? [] : [`${applied} migrations are counted, not ${all}, each once`]),
        ...(catalog === complete ? [] : ['the tables are not as they are elsewhere']),
        ...(wrong === 0 && counted === expected ? [] : [`${wrong} of ${counted} vouchers say what is not so`]),
      ];
    }
    /** Starts all replicas concurrently, checks the status for the first provider's key, and kills them. */
    async function startAll(database: string, status: number) {
      const tried = await Promise.allSettled(Array.from({ length: replicas }, () => startServer(run, env(database))));
      for (const one of tried) {
        if (one.status === 'rejected') faults.push(`a replica does not start: ${String(one.reason)}`);
        else if (one.value.hasEnded()) faults.push('a replica has ended');
        else if ((await client.get(`${one.value.base}/v2/schools`)).status !== status)
          faults.push('a replica does not answer');
      }
      await Promise.all(
        tried.map(async (one) => {
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
      if (faults.length > 0) return { figures: `broke off in round ${round + 1}`, faults: [...new Set(faults)] };
      faults.push(...lookAt(await stateOf(postgres, database), 0));
      const other = await postgres.connect(database);
      const { rows } = await other.query<{ made: number }>('select count(*)::int as made from providers');
      await other.end();
      if (rows[0]!.made !== 1) faults.push(`the first provider is made ${rows[0]!.made} times`);
      await drop(database);
    }
    await copy('newer');
    // No provider is created in a database that has some.
    await startAll('newer', 401);
    faults.push(...lookAt(await stateOf(postgres, 'newer'), vouchers));

    let amid = 0;
    let attempts = 0;
    for (; amid < kills && attempts < kills * 3; attempts += 1) {
      const database = `killed_${attempts}`;
      await copy(database);
      const wasAtWork = await killAtWork(database, attempts);
      const left = await stateOf(postgres, database);
      const isAsBefore = left.applied === older && left.catalog === before.catalog;
      // If all migrations are applied the kill came too late; tried again.
      if (wasAtWork && isAsBefore) amid += 1;
      if (!isAsBefore) faults.push(...lookAt(left, vouchers).map((fault) => `after a kill ${fault}`));
      const server = await startServer(run, env(database));
      faults.push(...lookAt(await stateOf(postgres, database), vouchers));
      server.signal('SIGKILL');
      await server.ended;
      await drop(database);
    }
    if (amid < kills) faults.push(`only ${amid} of ${kills} kills came amid a migration, in ${attempts} attempts`);

    /**
     * Kills a command or server during its migration, with one table locked or at a random moment. Returns true if it
     * held the migration lock and had written to or waited for the table.
     */
    async function killAtWork(database: string, attempt: number) {
      const held = attempt % 2 === 0 ? changed[(attempt / 2) % changed.length] : undefined;
      const other = await postgres.connect(database);
      if (held !== undefined) await other.query(`begin; lock table ${held} in access exclusive mode`);
      const command = attempt % 3 === 0 ? ['dist/main.js'] : ['dist/cli.js', 'migrate'];
      const child = spawn(process.execPath, command, {
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
          [database, held !== undefined],
        );
        return rows;
      };
      const isAtWork = async () => (await migrating()).some((one) => one.isAtWork);
      const waited = await until(async () => (await isAtWork()) || child.exitCode !== null, 20_000);
      if (held === undefined) await pause(run.random() * 40);
      const wasAtWork = waited < Infinity && (await isAtWork());
      child.kill('SIGKILL');
      await ended;
      await other.end();
      await until(async () => (await migrating()).length === 0, 20_000);
      await watcher.end();
      return wasAtWork;
    }

    // Negative controls: concurrent migrations without a lock, and a partly applied one.
    await postgres.create('naive');
    const naive = await Promise.allSettled(
      Array.from({ length: replicas }, async () => {
        const other = await postgres.connect('naive');
        await migrate(drizzle({ client: other }), { migrationsFolder: 'migrations' }).finally(() => other.end());
      }),
    );
    const failed = naive.filter(({ status }) => status === 'rejected').length;
    if (failed === 0) faults.push('migrations without a lock are not seen to fail');
    await copy('half');
    const half = await postgres.connect('half');
    await half.query(`alter table vouchers add column spent_before numeric(12, 2) default '0' not null`);
    await half.end();
    const found = lookAt(await stateOf(postgres, 'half'), vouchers);
    if (found.length < 3) faults.push('a migration that was left half done is not seen');

    return {
      figures: [
        `${rounds} times ${replicas} replicas on an empty database and once on an older one with ${vouchers} vouchers`,
        `${amid} kills amid a migration in ${attempts} attempts, applied once each`,
        `control: ${failed} of ${replicas} fail without a lock, half a migration seen`,
      ].join(', '),
      faults: [...new Set(faults)],
    };
  },
};
export default row;
