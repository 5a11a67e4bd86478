import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Run } from '../row.ts';
import { clientOf, type Client } from './client.ts';
import { startPostgres, type Postgres } from './postgres.ts';
import { startServer } from './server.ts';

/** A provider with a course, dates of it that never fill, and a client of its own. */
export type School = { id: number; client: Client; courseId: number; dateIds: number[] };

/** A database of schools, with no server on it. */
export type Schools = {
  postgres: Postgres;
  /** For a server on it. */
  env: Record<string, string>;
  all: School[];
  first: School;
};

const database = 'schools';

/** Makes a PostgreSQL with so many schools in it. */
export async function makeSchools(
  run: Run,
  { count = 1, settings = {}, create }: MakingOptions = {},
): Promise<Schools> {
  const postgres = await startPostgres(run, settings);
  await (create ?? (() => postgres.create(database)))(postgres, database);
  const env = { DATABASE_URL: postgres.url(database), DATA_DIR: join(dirname(postgres.log), 'mail') };
  const server = await startServer(run, env);
  const all: School[] = [];
  for (let n = 1; n <= count; n += 1) {
    const { provider_id, api_key } = JSON.parse(
      (await cli(env, 'provider', 'create', '--title', `School ${n}`, '--json')).output,
    ) as { provider_id: number; api_key: string };
    const client = clientOf(api_key);
    run.afterwards(client.close);
    const { course_id } = await made(client, `${server.base}/v2/courses`, { title: 'First aid', price_value: 1000 });
    const dateIds: number[] = [];
    for (let date = 0; date < 4; date += 1) {
      const { coursedate_id } = await made(client, `${server.base}/v2/courses/${course_id}/coursedates`, aDate);
      dateIds.push(coursedate_id!);
    }
    all.push({ id: provider_id, client, courseId: course_id!, dateIds });
  }
  server.signal('SIGTERM');
  await server.ended;
  return { postgres, env, all, first: all[0]! };
}

type MakingOptions = {
  count?: number;
  /** Of PostgreSQL. */
  settings?: Record<string, string>;
  /** Makes the database where not the usual way will do. */
  create?: (postgres: Postgres, database: string) => Promise<void>;
};

const aDate = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 1_000_000 };

async function made(client: Client, url: string, body: unknown) {
  const { status, text } = await client.post(url, body);
  if (status !== 201) throw new Error(`not made: ${status} ${text}`);
  return JSON.parse(text) as { course_id?: number; coursedate_id?: number };
}

/** What an operator types. */
export const cli = (env: Record<string, string>, ...words: string[]) =>
  new Promise<{ code: number; output: string }>((done) => {
    const all = { PATH: process.env['PATH'] ?? '', ...env };
    execFile(process.execPath, ['dist/cli.js', ...words], { env: all }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, output: stdout || stderr }),
    );
  });
