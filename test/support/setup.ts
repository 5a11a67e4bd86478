import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateDatabase } from '../../src/database/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server's connection; database `template` is only for copying. */
    server: ClientConfig;
    /** The database that most tests share, each with its own providers. */
    shared: string;
    template: string;
  }
}

/**
 * PostgreSQL for the test run: TEST_DATABASE_URL, or an embedded one stopped at the end. The servers at TEST_BASE_URL have
 * the database of TEST_DATABASE_URL, which is left as it is.
 */
export default async function setup(project: TestProject) {
  const { server, stop } = await startDatabase();
  const template = `booking_template_${process.pid}`;
  const served = process.env['TEST_BASE_URL'] && new URL(process.env['TEST_DATABASE_URL']!).pathname.slice(1);
  const shared = served || `booking_test_${process.pid}`;

  await run(server, `drop database if exists ${template}`, `create database ${template}`);
  await migrateDatabase({ ...server, database: template });
  await run({ ...server, database: template }, readFileSync(join(import.meta.dirname, 'refuse-unlocked.sql'), 'utf8'));
  if (!served) await run(server, `create database ${shared} template ${template} strategy file_copy`);

  project.provide('server', server);
  project.provide('template', template);
  project.provide('shared', shared);
  return async () => {
    if (!served) await run(server, `drop database if exists ${shared} with (force)`);
    await run(
      server,
      `drop database if exists ${template} with (force)`,
      // Tests with the demo data create it.
      `drop database if exists ${template}_demo with (force)`,
    );
    await stop();
  };
}

async function startDatabase() {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined) {
    const { hostname, port, username, password } = new URL(url);
    const server: ClientConfig = {
      host: decodeURIComponent(hostname),
      port: Number(port || 5432),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: 'postgres',
    };
    return { server, stop: async () => undefined };
  }
  const { openEmbeddedDatabase } = await import('../../src/embedded-postgres/index.ts');
  const dataDir = mkdtempSync(join(tmpdir(), 'booking-test-'));
  // PostgreSQL does not run as root, so its files belong to another user.
  chmodSync(dataDir, 0o755);
  const embedded = await openEmbeddedDatabase({ dataDir, fsync: false, settings: { max_connections: '200' } });
  const stop = async () => {
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { server: { ...embedded.connection, database: 'postgres' }, stop };
}

async function run(connection: ClientConfig, ...statements: string[]) {
  const client = new Client(connection);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
