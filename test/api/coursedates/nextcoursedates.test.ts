import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { courses } from '../../../src/database/tables/courses.ts';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import {
  addBundle,
  addDate,
  addGathering,
  addInstructor,
  addLocation,
  findMunicipality,
  assignInstructor,
} from '../../support/dates.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

const idsOf = (response: TestResponse) =>
  response.json<{ coursedate_id: number }[]>().map(({ coursedate_id }) => coursedate_id);
const listIds = (me: Provider) => async (query: string) => idsOf(await me.get(`/v2/nextcoursedates?${query}`));

/** Date in a time zone, that many days from now. */
const day = (timeZone: string, days = 0) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone }).format(Date.now() + days * 86_400_000);

test('lists only future, visible, not canceled dates of active courses, without children', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [course, inactive] = [await me.course({ type: 'internal' }), await me.course({ active: 0 })];
  const later = await addDate(me, course, { startAt: '2031-01-01' });
  const sooner = await addDate(me, course, { startAt: '2030-12-01' });
  const same = await addDate(me, course, { startAt: '2030-12-01', statusId: 4 });
  await addDate(me, course, { startAt: '2020-01-01', endAt: '2090-01-01' });
  await addDate(me, course, { isVisible: false });
  await addDate(me, course, { statusId: 3 });
  await addDate(me, course, { parentId: later });
  await addDate(me, course, { deletedAt: '2026-01-01 00:00+00' });
  await addDate(me, inactive);
  await addDate(other, await other.course());
  const query = listIds(me);
  expect(await query('')).toEqual([sooner, same, later]);
  expect(await query('limit=2')).toEqual([sooner, same]);
  expect(await query('limit=2&page=2')).toEqual([later]);
  expect((await me.get('/v2/nextcoursedates?limit=2')).headers['link']).toContain('page=2');
  const ignored = await me.get(`/v2/nextcoursedates?since_id=${later}&include_deleted=1`);
  expect(idsOf(ignored)).toEqual([sooner, same, later]);
  expect(ignored.headers['x-ignored-parameters']).toBe('since_id, include_deleted');
  expect(ignored.headers).not.toHaveProperty('etag');
});

test.each(['Europe/Oslo', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])('today is the day in %s', async (timezone) => {
  const me = await createProvider();
  const course = await me.course();
  const today = await addDate(me, course, { startAt: day(timezone), timezone, startTimeAt: '00:00' });
  await addDate(me, course, { startAt: day(timezone, -1), timezone, startTimeAt: '23:59', endTimeAt: '23:59:30' });
  expect(await listIds(me)('')).toEqual([today]);
});

test.each(['Europe/Oslo', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
  'a date hidden after its deadline is omitted from the calendar and partner lists only: %s',
  async (timezone) => {
    const [me, partner] = [await createProvider(), await createProvider()];
    await approvePartner(database, partner.id, me.id);
    const course = await me.course();
    const add = (deadline: number, visibleWhenPassedDeadline: boolean) =>
      addDate(me, course, {
        ...{ startAt: day(timezone, 20), endAt: day(timezone, 20), timezone },
        ...{ deadlineAt: day(timezone, deadline), visibleWhenPassedDeadline },
      });
    const hidden = await add(-1, false);
    const shown = [await add(-1, true), await add(0, false), await add(1, false)];
    expect(await listIds(me)('')).toEqual(shown);
    expect(await listIds(partner)(`partner_id=${me.id}`)).toEqual(shown);
    const listed = async (caller: Provider, path: string) =>
      (await caller.get(path)).json<{ items: { coursedate_id: number }[] }>().items.map((one) => one.coursedate_id);
    expect(await listed(partner, `/v2/coursedates?partner_id=${me.id}`)).toEqual(shown);
    expect(await listed(me, '/v2/coursedates')).toEqual([hidden, ...shown]);
  },
);

test('returns up to 250 by default', async () => {
  const me = await createProvider();
  const course = await me.course();
  await write(me, async (tx, now) => {
    await tx.execute(
      `insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
       select ${me.id}, ${course}, '2030-01-01', '2030-01-01', '2030-01-01', 'Europe/Oslo', 'no', '${now}', '${now}' from generate_series(1, 255)`,
    );
  });
  expect(await listIds(me)('')).toHaveLength(250);
  expect(await listIds(me)('page=2')).toHaveLength(5);
  expect(await listIds(me)('limit=1000')).toHaveLength(250);
});

test('embeds course, place and time by default, other relations on request', async () => {
  const me = await createProvider();
  const { id: placeId } = await findMunicipality(me, 'Bergen');
  const locationId = await addLocation(me, { title: 'Hall' });
  const instructorId = await addInstructor(me);
  const bundleId = await addBundle(me, 'Both');
  const course = await me.course({ title: 'Rich', reference: 'R' });
  await write(me, (tx) => tx.update(courses).set({ referenceInternal: 'Own' }).where(eq(courses.id, course)));
  const id = await addDate(me, course, { locationId, placeId, bundleId });
  await addGathering(me, id, {}, [instructorId]);
  await assignInstructor(me, id, instructorId);
  const child = await addDate(me, course, { parentId: id, triggerValue: 'x' });
  const item = async (query = '') => (await me.get(`/v2/nextcoursedates?${query}`)).json()[0];

  const names = ['course', 'location', 'place', 'gatherings', 'teaching_language', 'status'];
  const plain = await item();
  const query = (await me.get(`/v2/coursedates?coursedate_id=${id}&include=${names.join(',')}`)).json().items[0];
  expect(plain).toEqual(query);
  expect(plain).toMatchObject({ course: { title: 'Rich' }, gatherings: [{ instructors: [{ id: instructorId }] }] });
  for (const name of names) expect(await item(`include[]=${name}`)).toEqual(plain);
  expect(plain.course).not.toHaveProperty('products');
  expect(plain.course).not.toHaveProperty('reference_internal');

  expect(await item('include[]=course.products')).toEqual({
    ...plain,
    course: { ...plain.course, products: [expect.objectContaining({ title: 'Rich' })] },
  });
  expect(await item('include[]=course.reference_internal')).toEqual({
    ...plain,
    course: { ...plain.course, reference_internal: 'Own' },
  });
  expect(await item('include=instructors,provider,subinstances,bundle')).toEqual({
    ...plain,
    instructors: [expect.objectContaining({ id: instructorId })],
    provider: expect.objectContaining({ id: me.id }) as unknown,
    subinstances: [expect.objectContaining({ coursedate_id: child, parent_id: id, trigger_value: 'x' })],
    bundle: { id: bundleId, title: 'Both', items: [expect.objectContaining({ coursedate_id: id })] },
  });
  const refused = await me.get('/v2/nextcoursedates?include[]=school');
  expect([refused.status, refused.json().error]).toEqual([
    400,
    'Field(s) not valid: include. Supported values of include: course, location, place, gatherings, ' +
      'teaching_language, status, course.products, course.reference_internal, ' +
      'instructors, provider, subinstances, bundle, bookable',
  ]);
});

test('filters by tags of the course', async () => {
  const me = await createProvider();
  const tagged = await addDate(me, await me.course({ tags: [{ title: 'red' }, { title: 'blue' }] }));
  const red = await addDate(me, await me.course({ tags: [{ title: 'red' }] }));
  await addDate(me, await me.course());
  const [first, second] = (await me.get('/v2/course-tags')).json<{ id: number }[]>();
  expect(await listIds(me)(`tag_ids=${first!.id},${second!.id}`)).toEqual([tagged, red]);
  expect(await listIds(me)(`tag_ids=${first!.id},${second!.id}&tag_match=all`)).toEqual([tagged]);
});

test("partners' public dates are merged with own ones, each with its provider", async () => {
  const [me, partner, stranger] = [await createProvider(), await createProvider(), await createProvider()];
  await approvePartner(database, me.id, partner.id);
  const own = await addDate(me, await me.course(), { startAt: '2031-01-01' });
  const theirs = await addDate(partner, await partner.course(), { startAt: '2030-01-01' });
  await addDate(partner, await partner.course({ type: 'internal' }));
  await addDate(stranger, await stranger.course());
  const query = listIds(me);
  expect(await query('')).toEqual([own]);
  expect(await query('include_partners=1')).toEqual([theirs, own]);
  expect(await query(`partner_id=${partner.id}`)).toEqual([theirs]);
  const [first] = (await me.get('/v2/nextcoursedates?include_partners=1')).json();
  expect(first.provider).toMatchObject({ id: partner.id });
  expect((await me.get(`/v2/nextcoursedates?partner_id=${stranger.id}`)).status).toBe(403);
});

test('the number of statements is constant', async () => {
  const me = await createProvider();
  const { id: placeId } = await findMunicipality(me, 'Bergen');
  const course = await me.course();
  const add = async () => {
    const instructorId = await addInstructor(me);
    const locationId = await addLocation(me, { placeId, instructorId });
    await addGathering(me, await addDate(me, course, { placeId, locationId }), { locationId }, [instructorId]);
  };
  const statements = async () => (await recordStatements(() => me.get('/v2/nextcoursedates'))).length;
  await me.get('/v2/nextcoursedates'); // The first use of a key is noted.
  await add();
  const one = await statements();
  for (let n = 0; n < 3; n += 1) await add();
  expect(await statements()).toBe(one);
});
