import type { Cleanup } from '../reliability/scenario.ts';
import { startPostgres, type Postgres } from '../reliability/support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../reliability/support/server.ts';
import { addDatesAndUsers, bodyTemplate, connections, findDates } from './booking.ts';
import { alternate, median } from './figures.ts';

/** Short turns: on a shared machine the load of others changes within seconds. */
const bookingsPerTurn = 5 * connections;
const warmUpTurns = 5;

/**
 * Milliseconds per booking of another build and of this one, in turns on equal databases of one PostgreSQL, and the
 * median of the ratios of the turns. Undefined if `build` finds no folder.
 */
export async function measureBookingCost(
  { rounds, seconds }: { rounds: number; seconds: number },
  build: (run: Cleanup) => Promise<string | undefined>,
) {
  return withCleanup(async (run) => {
    const folder = await build(run);
    if (folder === undefined) return undefined;
    const postgres = await startPostgres(run);
    const bookBefore = await startSchool(run, postgres, 'before', `${folder}/dist/main.js`);
    const bookNow = await startSchool(run, postgres, 'now', 'dist/main.js');
    for (let turn = 0; turn < warmUpTurns; turn += 1) await alternate(turn, bookBefore, bookNow);
    const turns: [number, number][] = [];
    for (const end = performance.now() + rounds * seconds * 1_000; performance.now() < end;)
      turns.push(await alternate(turns.length, bookBefore, bookNow));
    return {
      turns: turns.length,
      msBefore: median(turns.map(([before]) => before)),
      msNow: median(turns.map(([, now]) => now)),
      ratio: median(turns.map(([before, now]) => now / before)),
    };
  });
}

export async function withCleanup<T>(work: (run: Cleanup) => Promise<T>) {
  const cleanups: (() => unknown)[] = [];
  try {
    return await work({ onCleanup: (cleanup) => void cleanups.unshift(cleanup) });
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

/** Starts a server with a school on a new database; returns a function that measures a turn. */
async function startSchool(run: Cleanup, postgres: Postgres, name: string, program: string) {
  await postgres.create(name);
  const env = { DATABASE_URL: postgres.url(name), LOG_LEVEL: 'error', ...firstProvider };
  const { base } = await startServer(run, env, { command: [process.execPath, program] });
  const post = async (path: string, body: string) => {
    const headers = { 'x-api-key': firstKey, 'content-type': 'application/json' };
    const response = await fetch(base + path, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${path} of ${name} returned ${response.status}: ${text}`);
    return text;
  };
  const course = await post('/v2/courses', JSON.stringify({ title: 'First aid', price_value: 4900 }));
  const { course_id: courseId } = JSON.parse(course) as { course_id: number };
  const client = await postgres.connect(name);
  const { rows } = await client.query<{ id: number; now: string }>('select id, now()::text as now from providers');
  const { id: providerId, now } = rows[0]!;
  await addDatesAndUsers(client, providerId, courseId, now);
  const dateIds = await findDates(client, providerId);
  await client.end();

  let sent = 0;
  const book = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const dateId = dateIds[(sent += 1) % dateIds.length]!;
      await post('/v2/booking', bodyTemplate.replaceAll('{n}', String(sent)).replaceAll('{id}', String(dateId)));
    }
  };
  return async () => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: connections }, () => book(bookingsPerTurn / connections)));
    return (performance.now() - startedAt) / bookingsPerTurn;
  };
}
