import type { Scenario } from '../scenario.ts';
import { createClient } from '../support/client.ts';
import { instants, type Instant } from '../support/instants.ts';
import { startPostgres } from '../support/postgres.ts';
import { createTwoSchools } from '../support/two-schools.ts';
import { startServer } from '../support/server.ts';

const zones = ['UTC', 'Europe/Oslo', 'America/Los_Angeles', 'Pacific/Auckland'];
const dates = 'course,location,gatherings,place,teaching_language,status,instructors,subinstances,bundle';
/** Requests that show or take a date or time. */
const paths = [
  '/v2/courses?limit=250&include_deleted=1&include=products',
  '/v2/courses?created_at_min=2026-01-01&updated_at_max=2030-10-27 02:30:00',
  `/v2/coursedates?limit=250&include_deleted=1&include=${dates}`,
  '/v2/coursedates?limit=250&start_date_at_min=2026-03-29 02:30:00&order_by=id',
  '/v2/coursedates?limit=250&start_date_at_max=2026-10-25T02:30:00&order_direction=desc',
  '/v2/coursedates?limit=250&end_date_at_min=2027-01-01&end_date_at_max=2101-01-01',
  '/v2/nextcoursedates?limit=250&start_date_at_min=2026-02-28',
  '/v2/locations',
  '/v2/customers?include=employees',
  '/v2/instructors',
  '/v2/orders?user_data=1&exported=1',
  '/v2/orders?exported_at_min=2020-02-29',
  '/v2/participants?include=attendance&limit=250',
  '/v2/campaigns',
  '/v2/admin-users',
  '/v2/schools',
];

const scenario: Scenario = {
  name: 'time zones',
  quick: false,
  async run(run) {
    // The database's own zone is a third one.
    const postgres = await startPostgres(run, { fsync: 'off', timezone: 'Asia/Kolkata' });
    const school = await createTwoSchools(run, postgres, 'school');
    const env = { ...school.env, PUBLIC_URL: 'http://school.example' };
    const client = createClient(school.apiKey);
    run.onCleanup(client.close);
    const servers = await Promise.all(zones.map((TZ) => startServer(run, { ...env, TZ })));
    const failures: string[] = [];

    const course = await client.post(`${servers[0]!.base}/v2/courses`, { title: 'Clocks' });
    const courseId = (JSON.parse(course.text) as { course_id: number }).course_id;
    const created: { instant: Instant; id: number }[] = [];
    for (const [n, instant] of instants.entries()) {
      const [timezone, start_at, start_time_at] = instant;
      const url = `${servers[n % servers.length]!.base}/v2/courses/${courseId}/coursedates`;
      const response = await client.post(url, { start_at, start_time_at, timezone, end_at: '2101-01-01' });
      if (response.status !== 201) failures.push(`${instant.join(' ')} was rejected: ${response.text}`);
      else created.push({ instant, id: (JSON.parse(response.text) as { coursedate_id: number }).coursedate_id });
    }

    /** Dates found from one instant until before another. */
    async function findDates(base: string, min: string, max: string) {
      const query = new URLSearchParams({ limit: '250', start_date_at_min: min, start_date_at_max: max });
      const { text } = await client.get(`${base}/v2/courses/${courseId}/coursedates?${query.toString()}`);
      return { text, ids: (JSON.parse(text) as { coursedate_id: number }[]).map((date) => date.coursedate_id) };
    }
    const secondAfter = (moment: string) => new Date(Date.parse(moment) + 1_000).toISOString();
    /** True if the date is found in the second that starts then. */
    async function isFoundAt(base: string, id: number, instant: string) {
      const { ids, text } = await findDates(base, instant, secondAfter(instant));
      return { found: ids.includes(id), text };
    }

    const bodies: string[] = [];
    for (const { base } of servers) {
      const texts: string[] = [];
      for (const { id, instant } of created) {
        const [zone, day, time, at] = instant;
        const { found, text } = await isFoundAt(base, id, at);
        if (!found) failures.push(`${zone} ${day} ${time} is not ${at}`);
        texts.push(text);
        if (zone !== 'Europe/Oslo') continue;
        // A time without an offset is in the service's zone.
        const own = await findDates(base, `${day} ${time}`, secondAfter(at));
        if (!own.ids.includes(id)) failures.push(`${day} ${time} does not filter at ${at}`);
      }
      for (const path of paths) {
        const response = await client.get(encodeURI(base + path));
        if (response.status !== 200) failures.push(`${path} returned ${response.status}: ${response.text}`);
        texts.push(response.text);
      }
      bodies.push(texts.join('\n'));
    }
    zones.forEach((zone, n) => {
      if (bodies[n] !== bodies[0]) failures.push(`responses differ under ${zone}`);
    });

    // Negative controls: an instant that is off by an hour, and a service in another zone.
    const wrong = await isFoundAt(
      servers[0]!.base,
      created[0]!.id,
      new Date(Date.parse(created[0]!.instant[3]) + 3_600_000).toISOString(),
    );
    if (wrong.found) failures.push('control: an hour off not detected');
    const elsewhere = await startServer(run, { ...env, TIMEZONE: 'America/Los_Angeles' });
    const [one, other] = await Promise.all([servers[0]!, elsewhere].map(({ base }) => client.get(base + paths[0]!)));
    if (one!.text === other!.text) failures.push('control: another zone not detected');

    return {
      figures: [
        `${created.length} instants under ${zones.length} zones`,
        `${bodies[0]!.length} bytes of ${paths.length + created.length} identical responses`,
        'control: an hour off and another TIMEZONE detected',
      ].join(', '),
      failures: [...new Set(failures)],
    };
  },
};
export default scenario;
