import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from 'pg';
import { openDatabase, type Database } from '../../src/database/client.ts';
import { openEmbeddedDatabase } from '../../src/embedded-postgres/index.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { buildDataset, type Dataset } from './dataset.ts';
import { parentOf } from './usage.ts';

/** A migrated PostgreSQL under test. `pid` is its postmaster. */
export type Subject = {
  database: Database;
  url: string;
  socket: { host: string; user: string; name: string };
  pid: number;
};

/** Reused by later runs, since building the data takes minutes. */
const folder = join(tmpdir(), `course-booking-bench-${userInfo().username}`);

/**
 * Runs the work on a copy of a data set of that size, in a database with durable commits. The data set is built once
 * for each schema and generator version and then reused.
 */
export async function withDatabase<T>(size: number, work: (subject: Subject, data: Dataset) => Promise<T>): Promise<T> {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const embedded = await openEmbeddedDatabase({ dataDir: folder });
  const connectTo = (database: string) => ({ ...embedded.connection, database });
  try {
    const templateName = `data_${String(size).replace('.', '_')}_${fingerprint()}`;
    const dataset = (await findDataset(connectTo, templateName)) ?? (await build(connectTo, templateName, size));
    const name = `run_${process.pid}_${(runs += 1)}`;
    await asAdmin(connectTo, `create database ${name} template ${templateName} strategy file_copy`);
    const database = open(connectTo(name));
    const { host, user } = embedded.connection;
    const url = `postgres://${encodeURIComponent(user)}@localhost/${name}?host=${encodeURIComponent(host)}`;
    try {
      const { rows } = await database.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = parentOf(rows[0]!.pid);
      return await work({ database, url, socket: { host, user, name }, pid }, dataset);
    } finally {
      await database.close();
      await asAdmin(connectTo, `drop database if exists ${name} with (force)`);
    }
  } finally {
    await embedded.stop();
  }
}
let runs = 0;

type ConnectTo = (database: string) => ClientConfig;

function open(connection: ClientConfig) {
  const limits = { poolSize: 1, acquireMs: 10_000, statementMs: 3_600_000, writeMs: 10_000 };
  return openDatabase({ connection, timezone: 'Europe/Oslo', ...limits });
}

async function asAdmin<Row extends object>(connectTo: ConnectTo, text: string, values: unknown[] = []) {
  const database = open(connectTo('postgres'));
  try {
    return (await database.pool.query<Row>(text, values)).rows;
  } finally {
    await database.close();
  }
}

async function findDataset(connectTo: ConnectTo, name: string): Promise<Dataset | undefined> {
  const text = `select shobj_description(oid, 'pg_database') as dataset from pg_database where datname = $1`;
  const [found] = await asAdmin<{ dataset: string | null }>(connectTo, text, [name]);
  return found?.dataset ? (JSON.parse(found.dataset) as Dataset) : undefined;
}

async function build(connectTo: ConnectTo, name: string, size: number) {
  const old = await asAdmin<{ datname: string }>(
    connectTo,
    `select datname from pg_database where datname ~ '^(data|run)_' and datname not like $1`,
    [`%\\_${fingerprint()}`],
  );
  for (const { datname } of old) {
    if (!isInUse(datname)) await asAdmin(connectTo, `drop database ${datname} with (force)`);
  }
  await asAdmin(connectTo, `drop database if exists ${name} with (force)`);
  await asAdmin(connectTo, `create database ${name}`);
  await migrateDatabase(connectTo(name));
  const database = open(connectTo(name));
  const dataset = await buildDataset(database, size).finally(() => database.close());
  await asAdmin(connectTo, `comment on database ${name} is '${JSON.stringify(dataset)}'`);
  return dataset;
}

/** A run's database belongs to its process. */
function isInUse(name: string) {
  const pid = /^run_(\d+)_/.exec(name)?.[1];
  return pid !== undefined && existsSync(`/proc/${pid}`);
}

/** Changes with the migrations and the generator, so that an outdated data set is rebuilt. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(import.meta.dirname, 'dataset.ts')));
  const migrations = join(import.meta.dirname, '../../migrations');
  for (const file of readdirSync(migrations).sort()) {
    if (file.endsWith('.sql')) hash.update(readFileSync(join(migrations, file)));
  }
  return hash.digest('hex').slice(0, 10);
}
