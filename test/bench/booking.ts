import { buildApp } from '../../src/app.ts';
import { createTitledProvider } from '../../src/domains/school/schools/service.ts';
import { allAreas } from '../../src/database/areas.ts';
import { recordStatements } from '../support/record-statements.ts';
import type { Subject } from './database.ts';
import { measureCost, medians } from './cost.ts';
import { warmUp } from './load.ts';
import type { OtherFigures } from './others.ts';
import { pgbench, createScript, isLock } from './pgbench.ts';
import { appOptions, withServer } from './server.ts';

type Queryable = { query(text: string, values?: unknown[]): Promise<{ rows: { id?: unknown }[] }> };

export const connections = 8;
/** One new course user on a course date without a seat limit; `{n}` and `{id}` are filled in per request. */
export const bodyTemplate = JSON.stringify({
  coursedate_id: '{id}',
  payment_method: 'invoice',
  booker_email: 'booker@company.example',
  invoice_address_1: 'Storgata 1',
  invoice_zipcode: '0155',
  invoice_city: 'Oslo',
  participants: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari-{n}@company.example', phone: '99887766' }],
});

/** Booking rate over HTTP, on one course date and over a thousand, compared with pgbench running the same SQL. */
export async function measureBooking(subject: Subject, { rounds, seconds }: { rounds: number; seconds: number }) {
  const { apiKey, dateIds } = await seed(subject);
  const createTarget = async (target: string, ids: number[]) => ({
    where: target,
    ids,
    ...(await scriptFor(subject, apiKey, ids)),
  });
  const targets = [
    await createTarget('one course date', dateIds.slice(0, 1)),
    await createTarget('a thousand course dates', dateIds),
  ];
  return withServer(subject, {}, async ({ base, pid }) => {
    const runs: Record<string, Omit<OtherFigures, 'name' | 'statements'>[]> = {};
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const load = { url: `${base}/v2/booking`, method: 'POST' as const, headers, body: bodyTemplate, connections };
    await warmUp({ ...load, ids: dateIds }, { rounds });
    for (let round = 0; round < rounds; round += 1) {
      for (const { where: target, ids, script } of targets) {
        const cost = await measureCost(subject, [pid], '201', { ...load, ids, seconds });
        const { perSecond: limit } = await pgbench(subject, script, connections, seconds);
        (runs[target] ??= []).push({ ...cost, limit, share: cost.perSecond / limit });
      }
    }
    return Object.entries(runs).map(([target, all]): OtherFigures => ({
      name: `booking on ${target}`,
      statements: targets[0]!.sent,
      ...medians(all),
    }));
  });
}

/** A provider with one course, a thousand course dates and twenty thousand course users. */
async function seed({ database }: Subject) {
  const { providerId, apiKey } = await createTitledProvider(database, 'The measured school', null);
  const app = await buildApp({ database, ...appOptions });
  const headers = { 'x-api-key': apiKey };
  const payload = { title: 'First aid', price_value: 4900 };
  const course = await app.inject({ method: 'POST', url: '/v2/courses', headers, payload });
  const { course_id: courseId } = course.json<{ course_id: number }>();
  await database.write([providerId], allAreas, async ({ tx, now }) => {
    await addDatesAndUsers(tx.$client, providerId, courseId, now);
  });
  const dateIds = await findDates(database.pool, providerId);
  await app.close();
  return { apiKey, dateIds };
}

/** A thousand course dates without a seat limit, and twenty thousand course users. */
export async function addDatesAndUsers(client: Queryable, providerId: number, courseId: number, now: string) {
  // Distinctive ids, so that `scriptOf` can replace them by variables without hitting other values.
  await client.query("select setval(pg_get_serial_sequence('course_dates', 'id'), 1000000)");
  await client.query(
    `insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
      select $1, $2, day, day, day, 'Europe/Oslo', 'no', $3, $3
      from generate_series(0, 999) n, lateral (select date '2035-01-01' + n) d (day)`,
    [providerId, courseId, now],
  );
  await client.query(
    `insert into course_users (provider_id, username, email, firstname, lastname, created_at, updated_at)
      select $1, 'user' || n || '@company.example', 'user' || n || '@company.example', 'Kari', 'Nordmann', $2, $2
      from generate_series(1, 20000) n`,
    [providerId, now],
  );
}

export async function findDates(client: Queryable, providerId: number) {
  await client.query('analyze');
  const text = 'select id from course_dates where provider_id = $1 order by id';
  const { rows } = await client.query(text, [providerId]);
  return rows.map(({ id }) => Number(id));
}

let samples = 0;

/** Records the statements of one booking transaction and turns person and date into pgbench variables. */
async function scriptFor({ database }: Subject, apiKey: string, ids: number[]) {
  const app = await buildApp({ database, ...appOptions });
  const person = `sample-${(samples += 1)}`;
  const [dateId, lastDateId] = [ids[0]!, ids.at(-1)!];
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const payload = bodyTemplate.replaceAll('{n}', person).replaceAll('{id}', String(dateId));
  const all = await recordStatements(() => app.inject({ method: 'POST', url: '/v2/booking', headers, payload }));
  await app.close();

  const from = all.findIndex(({ text }) => text.startsWith('begin'));
  const to = all.findIndex(({ text }) => text === 'commit');
  const lock = all.find(isLock);
  const users = all.find((one) => one.name === 'create_users')?.row;
  if (from < 0 || to < 0 || !lock?.row || !users) throw new Error('the recorded booking failed');
  const variables = [
    { sample: String(lock.row['now']), sql: ':now' },
    { sample: person, sql: ':person::text' },
    { sample: String(dateId), sql: ':date' },
    { sample: `"person":${String(users['id'])},`, sql: `'"person":' || :id::text || ','` },
    { sample: `"date":${dateId},`, sql: `'"date":' || :date::text || ','` },
  ];
  const before = ['\\set person random(1, 1000000000000000)', `\\set date random(${dateId}, ${lastDateId})`];
  const script = createScript(all.slice(from, to + 1), variables, [lock.name!, 'create_users'], before);
  return { script, sent: all.length };
}
