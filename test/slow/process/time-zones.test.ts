import { expect, test } from 'vitest';
import { importObjects, listUrls } from '../../support/all-responses.ts';
import { startServer, databaseUrl } from '../../support/processes.ts';
import { schoolFile } from '../../support/import-file.ts';
import { instants } from '../../support/instants.ts';
import { write } from '../../support/orders.ts';
import { openTestDatabase, openTestApp, ownDatabase } from '../../support/test-app.ts';

const zones = [
  ...['UTC', 'Europe/Oslo', 'America/St_Johns', 'America/Los_Angeles'],
  ...['Pacific/Kiritimati', 'Pacific/Auckland'],
];
const dates = 'course,location,gatherings,place,teaching_language,status,instructors,subinstances,bundle';
/** Lists by dates and times. */
const filtered = [
  '/v2/courses?created_at_min=2026-01-01&updated_at_max=2030-10-27 02:30:00',
  `/v2/coursedates?limit=250&include_deleted=1&include=${dates}`,
  '/v2/coursedates?limit=250&start_date_at_min=2026-03-29 02:30:00&order_by=id',
  '/v2/coursedates?limit=250&start_date_at_max=2026-10-25T02:30:00&order_direction=desc',
  '/v2/coursedates?limit=250&end_date_at_min=2027-01-01&end_date_at_max=2101-01-01',
  '/v2/nextcoursedates?limit=250&start_date_at_min=2026-02-28',
  '/v2/orders?user_data=1&exported=1',
  '/v2/orders?exported_at_min=2020-02-29',
];
const secondAfter = (instant: string) => new Date(Date.parse(instant) + 1_000).toISOString();

test("responses and filters do not depend on the machine's time zone", async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  await testApp.database.pool.query(`alter database ${name} set timezone to 'Asia/Kolkata'`);
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const courseId = await me.course();
  await write(me, (tx) =>
    tx.execute(
      `update courses set created_at = '2026-01-15 12:00:00+01', updated_at = '2026-07-15 12:00:00+02' where id = ${courseId}`,
    ),
  );
  expect((await importObjects(me, schoolFile(other.id), {}, { name })).reasons).toEqual([]);
  const clocks = await me.course({ title: 'Clocks' });
  await testApp.close();

  const start = (env: Record<string, string>) => startServer({ DATABASE_URL: databaseUrl(name), ...env });
  const servers = await Promise.all(zones.map((TZ) => start({ TZ })));
  const headers = { 'x-api-key': me.apiKey, 'content-type': 'application/json' };
  const read = async (url: string, path: string) => {
    const response = await fetch(encodeURI(url + path), { headers });
    expect(response.status, path).toBe(200);
    return response.text();
  };
  const created: number[] = [];
  for (const [n, [timezone, start_at, start_time_at]] of instants.entries()) {
    const { url } = servers[n % servers.length]!;
    const body = JSON.stringify({ start_at, start_time_at, timezone, end_at: '2101-01-01' });
    const response = await fetch(`${url}/v2/courses/${clocks}/coursedates`, { method: 'POST', headers, body });
    created.push(((await response.json()) as { coursedate_id: number }).coursedate_id);
  }
  /** The dates that start from one time until before another. */
  async function findDates(url: string, min: string, max: string) {
    const query = new URLSearchParams({ limit: '250', start_date_at_min: min, start_date_at_max: max });
    const found = await fetch(`${url}/v2/courses/${clocks}/coursedates?${query.toString()}`, { headers });
    return ((await found.json()) as { coursedate_id: number }[]).map(({ coursedate_id }) => coursedate_id);
  }

  const texts = new Set<string>();
  for (const { url } of servers) {
    for (const [n, [zone, day, time, instant]] of instants.entries()) {
      expect(await findDates(url, instant, secondAfter(instant)), instant).toContain(created[n]);
      // A time without an offset is in the service's zone.
      const own = zone === 'Europe/Oslo' ? await findDates(url, `${day} ${time}`, secondAfter(instant)) : created;
      expect(own, `${day} ${time}`).toContain(created[n]);
    }
    expect(JSON.parse(await read(url, `/v2/courses/${courseId}`))).toMatchObject({
      created_at: '2026-01-15T12:00:00+01:00',
      updated_at: '2026-07-15T12:00:00+02:00',
    });
    const responses = [];
    for (const path of [...listUrls, ...filtered]) responses.push(await read(url, path));
    texts.add(responses.join('\n'));
  }
  expect(texts.size).toBe(1);

  // Negative controls: an instant that is off by an hour, and a service in another zone.
  const late = new Date(Date.parse(instants[0]![3]) + 3_600_000).toISOString();
  expect(await findDates(servers[0]!.url, late, secondAfter(late))).not.toContain(created[0]);
  const elsewhere = await start({ TIMEZONE: 'America/Los_Angeles' });
  const [here, there] = [servers[0]!, elsewhere].map(({ url }) => read(url, filtered[1]!));
  expect(await here).not.toBe(await there);
  for (const server of [...servers, elsewhere]) {
    server.child.kill('SIGTERM');
    await server.ended;
  }
});
