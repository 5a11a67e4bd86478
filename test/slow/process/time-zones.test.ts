import { expect, test } from 'vitest';
import { importObjects, listUrls } from '../../support/all-responses.ts';
import { startServer, databaseUrl } from '../../support/processes.ts';
import { schoolFile } from '../../support/import-file.ts';
import { openTestDatabase, openTestApp, ownDatabase } from '../../support/test-app.ts';
import { allAreas } from '../../../src/database/areas.ts';

/** Before and after a daylight saving change, in the skipped and in the repeated hour. */
const days = [
  { start_at: '2026-03-28', start_time_at: '02:30', starts: '2026-03-28T01:30:00Z' },
  { start_at: '2026-03-29', start_time_at: '02:30', starts: '2026-03-29T01:30:00Z' },
  { start_at: '2026-07-01', start_time_at: '09:00', starts: '2026-07-01T07:00:00Z' },
  { start_at: '2026-10-25', start_time_at: '02:30', starts: '2026-10-25T01:30:00Z' },
  { start_at: '2026-12-31', start_time_at: '23:30', starts: '2026-12-31T22:30:00Z' },
];

test("responses and filters do not depend on the machine's time zone", async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  const me = await testApp.createProvider();
  const courseId = await me.course();
  await (
    await me.ctx()
  ).write(allAreas, async (tx, now) => {
    for (const { start_at, start_time_at } of days) {
      await tx.execute(`insert into course_dates
        (provider_id, course_id, start_at, end_at, deadline_at, start_time_at, zone, teaching_language_id, created_at, updated_at)
        values (${me.id}, ${courseId}, '${start_at}', '${start_at}'::date + 1, '${start_at}', '${start_time_at}', 'Europe/Oslo', 'no', '${now}', '${now}')`);
    }
    await tx.execute(
      `update courses set created_at = '2026-01-15 12:00:00+01', updated_at = '2026-07-15 12:00:00+02' where id = ${courseId}`,
    );
  });
  const other = await testApp.createProvider();
  expect((await importObjects(me, schoolFile(other.id), {}, { name })).reasons).toEqual([]);
  await testApp.close();

  const reported: string[] = [];
  for (const TZ of ['UTC', 'America/St_Johns', 'Pacific/Kiritimati', 'Europe/Oslo']) {
    const server = await startServer({ DATABASE_URL: databaseUrl(name), TZ });
    const get = async (path: string) =>
      (await fetch(server.url + path, { headers: { 'x-api-key': me.apiKey } })).json();
    const [course] = (await get('/v2/courses?limit=1')) as { created_at: string; updated_at: string }[];
    expect(course).toMatchObject({ created_at: '2026-01-15T12:00:00+01:00', updated_at: '2026-07-15T12:00:00+02:00' });
    for (const { start_at, starts } of days) {
      const second = new Date(Date.parse(starts) + 1_000).toISOString();
      const found = await get(
        `/v2/coursedates?course_id=${courseId}&start_date_at_min=${starts}&start_date_at_max=${second}`,
      );
      expect((found as { items: { start_at: string }[] }).items.map((date) => date.start_at)).toEqual([start_at]);
    }
    const responses = [];
    for (const url of listUrls) responses.push(await get(url));
    reported.push(JSON.stringify([await get('/v2/coursedates?include[]=course'), course, responses]));
    server.child.kill('SIGTERM');
    await server.ended;
  }
  expect(new Set(reported).size).toBe(1);
});
