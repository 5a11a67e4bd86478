import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { buildApp } from '../../../src/app.ts';
import { openDatabase } from '../../../src/database/client.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { createTitledProvider } from '../../../src/domains/school/schools/service.ts';
import type { Run } from '../scenario.ts';
import { createClient, type Client } from './client.ts';
import { startPostgres, type Postgres } from './postgres.ts';

/** A provider with a course, dates without a seat limit, and a client. */
export type School = { id: number; client: Client; courseId: number; dateIds: number[] };

/** A database with schools, without a server. */
export type Schools = {
  postgres: Postgres;
  /** Environment of a server on it. */
  env: Record<string, string>;
  all: School[];
  first: School;
};

const database = 'schools';

export async function createSchools(
  run: Run,
  { count = 1, parameters = {}, create }: SchoolsOptions = {},
): Promise<Schools> {
  const postgres = await startPostgres(run, parameters);
  await (create ?? (() => postgres.create(database)))(postgres, database);
  const env = {
    DATABASE_URL: postgres.url(database),
    DATA_DIR: join(dirname(postgres.log), 'mail'),
    MAIL_TO_FILES: 'true',
  };
  const all = await addSchools(run, env.DATABASE_URL, count);
  return { postgres, env, all, first: all[0]! };
}

/** Migrates an empty database and creates schools in it. */
export async function addSchools(run: Run, url: string, count: number) {
  const connection = { connectionString: url };
  await migrateDatabase(connection);
  const opened = openDatabase({ connection, timezone, poolSize: 4, acquireMs: 9e3, statementMs: 9e3, writeMs: 9e3 });
  const app = await buildApp({ database: opened, settings, version: 'test', limits });
  const post = async (apiKey: string, url: string, body: object) => {
    const response = await app.inject({ method: 'POST', url, headers: { 'x-api-key': apiKey }, body });
    if (response.statusCode !== 201) throw new Error(`not created: ${response.statusCode} ${response.body}`);
    return response.json<{ course_id: number; coursedate_id: number }>();
  };
  const all: School[] = [];
  for (let n = 1; n <= count; n += 1) {
    const { providerId: id, apiKey } = await createTitledProvider(opened, `School ${n}`, null);
    const client = createClient(apiKey);
    run.onCleanup(client.close);
    const { course_id: courseId } = await post(apiKey, '/v2/courses', { title: 'First aid', price_value: 1000 });
    const dateIds: number[] = [];
    for (let date = 0; date < 4; date += 1) {
      dateIds.push((await post(apiKey, `/v2/courses/${courseId}/coursedates`, datePayload)).coursedate_id);
    }
    all.push({ id, client, courseId, dateIds });
  }
  await app.close();
  await opened.close();
  return all;
}

const timezone = 'Europe/Oslo';
export const settings = { timezone, defaultLanguage: 'en', publicUrl: 'http://localhost', catalogUrl: null } as const;
export const limits = { bodyBytes: 1e6, requestMs: 1e4, keepAliveMs: 1e4, invalidKeysPerMinute: 100 };

type SchoolsOptions = {
  count?: number;
  /** PostgreSQL settings. */
  parameters?: Record<string, string>;
  /** Creates the database if the default does not suffice. */
  create?: (postgres: Postgres, database: string) => Promise<void>;
};

const datePayload = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 1_000_000 };

export const cli = (env: Record<string, string>, ...args: string[]) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const all = { PATH: process.env['PATH'] ?? '', ...env };
    execFile(process.execPath, ['dist/cli.js', ...args], { env: all }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout || stderr }),
    );
  });
