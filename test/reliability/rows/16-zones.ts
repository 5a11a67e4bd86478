import type { Row } from '../row.ts';
import { clientOf } from '../support/client.ts';
import { instants, type Instant } from '../support/instants.ts';
import { startPostgres } from '../support/postgres.ts';
import { twoSchools } from '../support/schools.ts';
import { startServer } from '../support/server.ts';

const zones = ['UTC', 'Europe/Oslo', 'America/Los_Angeles', 'Pacific/Auckland'];
const dates = 'course,location,gatherings,place,teaching_language,status,instructors,subinstances,bundle';
/** Requests that show or take a date or time. */
const questions = [
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

const row: Row = {
  name: 'time zones',
  quick: false,
  async run(run) {
    // The database's own zone is a third one.
    const postgres = await startPostgres(run, { fsync: 'off', timezone: 'Asia/Kolkata' });
    const school = await twoSchools(run, postgres, 'school');
    const env = { ...school.env, PUBLIC_URL: 'http://school.example' };
    const client = clientOf(school.apiKey);
    run.afterwards(client.close);
    const servers = await Promise.all(zones.map((TZ) => startServer(run, { ...env, TZ })));
    const faults: string[] = [];

    const course = await client.post(`${servers[0]!.base}/v2/courses`, { title: 'Clocks' });
    const courseId = (JSON.parse(course.text) as { course_id: number }).course_id;
    const made: { instant: Instant; id: number }[] = [];
    for (const [n, instant] of instants.entries()) {
      const [timezone, start_at, start_time_at] = instant;
      const url = `${servers[n % servers.length]!.base}/v2/courses/${courseId}/coursedates`;
      const answer = await client.post(url, { start_at, start_time_at, timezone, end_at: '2101-01-01' });
      if (answer.status !== 201) faults.push(`${instant.join(' ')} is refused: ${answer.text}`);
      else made.push({ instant, id: (JSON.parse(answer.text) as { coursedate_id: number }).coursedate_id });
    }

    /** Dates found from one instant until before another. */
    async function between(base: string, min: string, max: string) {
      const asked = new URLSearchParams({ limit: '250', start_date_at_min: min, start_date_at_max: max });
      const { text } = await client.get(`${base}/v2/courses/${courseId}/coursedates?${asked.toString()}`);
      return { text, ids: (JSON.parse(text) as { coursedate_id: number }[]).map((date) => date.coursedate_id) };
    }
    const secondAfter = (moment: string) => new Date(Date.parse(moment) + 1_000).toISOString();
    /** True if the date is found in the second that starts then. */
    async function isAt(base: string, id: number, instant: string) {
      const { ids, text } = await between(base, instant, secondAfter(instant));
      return { found: ids.includes(id), text };
    }

    const told: string[] = [];
    for (const { base } of servers) {
      const texts: string[] = [];
      for (const { id, instant } of made) {
        const [zone, day, time, at] = instant;
        const { found, text } = await isAt(base, id, at);
        if (!found) faults.push(`${zone} ${day} ${time} is not ${at}`);
        texts.push(text);
        if (zone !== 'Europe/Oslo') continue;
        // A time without an offset is in the service's zone.
        const own = await between(base, `${day} ${time}`, secondAfter(at));
        if (!own.ids.includes(id)) faults.push(`${day} ${time} asked for is not ${at}`);
      }
      for (const path of questions) {
        const answer = await client.get(encodeURI(base + path));
        if (answer.status !== 200) faults.push(`${path} answers ${answer.status}: ${answer.text}`);
        texts.push(answer.text);
      }
      told.push(texts.join('\n'));
    }
    zones.forEach((zone, n) => {
      if (told[n] !== told[0]) faults.push(`under ${zone} it answers otherwise`);
    });

    // Negative controls: an instant that is off by an hour, and a service in another zone.
    const wrong = await isAt(
      servers[0]!.base,
      made[0]!.id,
      new Date(Date.parse(made[0]!.instant[3]) + 3_600_000).toISOString(),
    );
    if (wrong.found) faults.push('an hour more or less is not seen');
    const elsewhere = await startServer(run, { ...env, TIMEZONE: 'America/Los_Angeles' });
    const [one, other] = await Promise.all(
      [servers[0]!, elsewhere].map(({ base }) => client.get(base + questions[0]!)),
    );
    if (one!.text === other!.text) faults.push('a service in another zone is not seen');

    return {
      figures: [
        `${made.length} instants under ${zones.length} zones`,
        `${told[0]!.length} bytes of ${questions.length + made.length} answers the same`,
        'control: an hour off and another TIMEZONE seen',
      ].join(', '),
      faults: [...new Set(faults)],
    };
  },
};
export default row;
