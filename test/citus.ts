import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { buildApp } from '../src/app.ts';
import { openDatabase } from '../src/database/client.ts';
import { findObstacles } from '../src/database/distribution.ts';
import { limits, settings } from './reliability/support/school.ts';

/*
 * Migrates an empty database on Citus, loads the demo data, distributes them and books a place. CITUS_DATABASE_URL names
 * the coordinator's database, made as docs/citus.md says. Skipped, with exit code 0, without it or without Citus.
 */

const url = process.env['CITUS_DATABASE_URL'];
const { timezone } = settings;

async function run(...args: string[]) {
  const env = { ...process.env, DATABASE_URL: url, TIMEZONE: timezone };
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/cli.js', ...args], { env });
  console.log(`${args.join(' ')}: done`);
  return stdout;
}

async function readObstacles(connectionString: string) {
  const client = new Client({ connectionString });
  await client.connect();
  return findObstacles(client, timezone).finally(() => client.end());
}

/** Books a place on a coming date of the demo school, and expects it in the list and in the change feed. */
async function bookOnce(connectionString: string, apiKey: string) {
  const times = { acquireMs: 9_000, statementMs: 30_000, writeMs: 9_000 };
  const database = openDatabase({ connection: { connectionString }, timezone, poolSize: 4, ...times });
  const app = await buildApp({ database, settings, version: 'test', limits });
  const headers = { 'x-api-key': apiKey };
  const get = async <T>(path: string) => {
    const response = await app.inject({ url: path, headers });
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${response.body}`);
    return response.json<T>();
  };
  try {
    const { cursor } = await get<{ cursor: string }>('/v2/changes');
    const [date] = await get<{ coursedate_id: number }[]>('/v2/nextcoursedates?limit=1');
    const payload = {
      coursedate_id: date!.coursedate_id,
      payment_method: 'invoice',
      participants: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' }],
    };
    const booked = await app.inject({ method: 'POST', url: '/v2/booking', headers, payload });
    if (booked.statusCode !== 201) throw new Error(`no booking: ${booked.statusCode} ${booked.body}`);
    const { items } = await get<{ items: { type: string }[] }>(`/v2/changes?since=${cursor}`);
    if (!items.some(({ type }) => type === 'booking.created')) throw new Error('the change feed lacks the booking');
    console.log('a booking and its events: done');
  } finally {
    await app.close();
    await database.close();
  }
}

const obstacles = url === undefined ? ['CITUS_DATABASE_URL is not set'] : await readObstacles(url);
if (url === undefined || obstacles.length > 0) {
  console.log(`skipped, nothing was tested: ${obstacles.join('; ')}`);
} else {
  await run('migrate');
  const { api_key: apiKey } = JSON.parse(await run('demo', '--json')) as { api_key: string };
  await run('distribute');
  await bookOnce(url, apiKey);
  await run('doctor', '--only', 'data');
}
