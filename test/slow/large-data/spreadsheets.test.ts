import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { allAreas } from '../../../src/database/areas.ts';
import { buildDataset } from '../../bench/dataset.ts';
import { peakMegabytes } from '../../bench/usage.ts';
import { databaseUrl, startServer } from '../../support/processes.ts';
import { longTimeouts } from '../../support/servers.ts';
import { openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const count = 300_000;

test('300,000 participants as CSV for a slow client take the memory of a few pages', { timeout: 900_000 }, async () => {
  const name = await ownDatabase();
  const database = openTestDatabase(name, { statementMs: 600_000, writeMs: 600_000 });
  onTestFinished(() => database.close());
  const { apiKey, providerId } = await buildDataset(database, 0.05, 0);
  await database.write([providerId], allAreas, ({ tx }) =>
    tx.$client.query({
      text: `insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_id,
          status_updated_at, entry_source, created_at, updated_at)
        select p.provider_id, booking_id, course_id, course_date_id, user_id, status_id, status_updated_at, entry_source,
          created_at, updated_at
        from participants p cross join generate_series(1, 19) n where provider_id = $1`,
      values: [providerId],
    }),
  );
  await database.pool.query('vacuum analyze');
  const server = await startServer({ DATABASE_URL: databaseUrl(name), ...longTimeouts });
  const headers = { 'x-api-key': apiKey };
  const read = async (query: string) => {
    const request = get(`${server.url}/v2/participants?${query}`, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    return response;
  };
  for (let page = 1; page <= 40; page += 1) (await read(`limit=250&page=${page}`)).resume();
  const ofPages = peakMegabytes(server.pid);

  const response = await read('format=csv&order_by=updated_at&order_direction=desc');
  response.pause();
  const busy = `select from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`;
  // The buffers are full.
  await expect.poll(async () => (await database.pool.query(busy)).rowCount).toBe(0);
  const whilePaused = peakMegabytes(server.pid);
  let lines = 0;
  for await (const part of response)
    for (let at = (part as Buffer).indexOf('\r\n'); at >= 0; at = (part as Buffer).indexOf('\r\n', at + 2)) lines += 1;
  const atEnd = peakMegabytes(server.pid);
  expect(lines).toBeGreaterThan(count - 100);
  expect(whilePaused - ofPages).toBeLessThan(60);
  expect(atEnd - ofPages).toBeLessThan(60);
});
