import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { ClientConfig, QueryResult } from 'pg';
import type { TestProject } from 'vitest/node';
import { guardStatements } from './tables.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server's connection; database `template` is only for copying. */
    server: ClientConfig;
    /** The database that most tests share, each with its own providers. */
    shared: string;
    template: string;
    /** A folder to which each worker writes the distinct statements that it sends. */
    statements: string;
  }
}

const root = join(import.meta.dirname, '../..');

/**
 * PostgreSQL for the test run: TEST_DATABASE_URL, or an embedded one stopped at the end. The servers at TEST_BASE_URL have
 * the database of TEST_DATABASE_URL, which is left as it is.
 */
export default async function setup(project: TestProject) {
  rmSync('test/output/errors.ndjson', { force: true });
  const statements = mkdtempSync(join(tmpdir(), 'booking-statements-'));
  const { server, template, shared, stop } = await (process.env['TEST_DATABASE_URL'] ? useServer() : startEmbedded());
  project.provide('server', server);
  project.provide('template', template);
  project.provide('shared', shared);
  project.provide('statements', statements);
  return async () => {
    await stop();
    rmSync(statements, { recursive: true, force: true });
  };
}

/** Creates the databases of the run on the server of TEST_DATABASE_URL. */
async function useServer() {
  const { hostname, port, username, password, pathname } = new URL(process.env['TEST_DATABASE_URL']!);
  const server: ClientConfig = {
    host: decodeURIComponent(hostname),
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: 'postgres',
  };
  const served = process.env['TEST_BASE_URL'] && pathname.slice(1);
  const template = `booking_template_${process.pid}`;
  const shared = served || `booking_test_${process.pid}`;
  await createTemplate(server, template);
  if (!served) await createShared(server, shared, template);
  const stop = async () => {
    if (!served) await run(server, `drop database if exists ${shared} with (force)`);
    // Tests create others whose names begin with that of the template.
    const databases = await run(
      server,
      `select datname as name from pg_database where datname = '${template}' or starts_with(datname, '${template}_')`,
    );
    for (const { name } of databases) await run(server, `drop database if exists ${name} with (force)`);
  };
  return { server, template, shared, stop };
}

const names = { template: 'booking_template', shared: 'booking_test' };

/** Starts an embedded PostgreSQL on a copy of the data folder that the first run with these migrations has kept. */
async function startEmbedded() {
  const kept = join(root, '.cache/test-database', hashOfDatabases());
  if (!existsSync(kept)) await keepData(kept);
  const embedded = await openEmbedded((data) => execFileSync('cp', ['-a', kept, data]));
  return { ...embedded, ...names };
}

/** Everything that the databases depend on. */
function hashOfDatabases() {
  const migrations = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'));
  const files = [
    ...migrations.sort().map((name) => `migrations/${name}`),
    'migrations/meta/_journal.json',
    ...['migrate.ts', 'releases.ts'].map((name) => `src/database/${name}`),
    ...[
      'src/embedded-postgres/watchdog.ts',
      'src/embedded-postgres/watchdog.sh',
      'test/support/setup.ts',
      'test/support/refuse-unlocked.sql',
      'test/support/tables.ts',
      'package.json',
    ],
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Creates the databases and keeps the data folder of the stopped server, in place of those of other migrations. */
async function keepData(kept: string) {
  const { server, data, stopServer, stop } = await openEmbedded(() => undefined);
  try {
    await createTemplate(server, names.template);
    await createShared(server, names.shared, names.template);
    await stopServer();
    const folder = dirname(kept);
    const others = existsSync(folder) ? readdirSync(folder) : [];
    mkdirSync(folder, { recursive: true });
    const copy = `${kept}.${process.pid}`;
    execFileSync('cp', ['-a', data, copy]);
    // Another run may have kept the same data meanwhile.
    if (existsSync(kept)) rmSync(copy, { recursive: true });
    else renameSync(copy, kept);
    for (const other of others.filter((name) => !name.startsWith(basename(kept))))
      rmSync(join(folder, other), { recursive: true, force: true });
  } finally {
    await stop();
  }
}

async function openEmbedded(fill: (data: string) => unknown) {
  const { openEmbeddedDatabase } = await import('../../src/embedded-postgres/index.ts');
  const dataDir = mkdtempSync(join(tmpdir(), 'booking-test-'));
  // PostgreSQL does not run as root, so its files belong to another user.
  chmodSync(dataDir, 0o755);
  const home = join(dataDir, 'postgres');
  mkdirSync(home, { mode: 0o700 });
  const data = join(home, 'data');
  fill(data);
  const embedded = await openEmbeddedDatabase({ dataDir, fsync: false, settings: { max_connections: '200' } });
  const stop = async () => {
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const server: ClientConfig = { ...embedded.connection, database: 'postgres' };
  return { server, data, stopServer: () => embedded.stop(), stop };
}

async function createTemplate(server: ClientConfig, name: string) {
  // Not at the start: most runs have the databases already.
  const { migrateDatabase } = await import('../../src/database/migrate.ts');
  await run(server, `drop database if exists ${name}`, `create database ${name}`);
  await migrateDatabase({ ...server, database: name });
  await run({ ...server, database: name }, guardStatements());
}

const createShared = (server: ClientConfig, name: string, template: string) =>
  run(server, `create database ${name} template ${template} strategy file_copy`);

async function run(connection: ClientConfig, ...statements: string[]) {
  const { Client } = await import('pg');
  const client = new Client(connection);
  await client.connect();
  try {
    let result: QueryResult<{ name: string }> | undefined;
    for (const statement of statements) result = await client.query(statement);
    return result?.rows ?? [];
  } finally {
    await client.end();
  }
}
