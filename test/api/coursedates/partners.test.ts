import { expect, test } from 'vitest';
import { addCategory, categorizeCourse } from '../../../src/domains/courses/courses/category-service.ts';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { addBundle, addDate, addGathering, addInstructor, addLocation, assignInstructor } from '../../support/dates.ts';
import { sharedTestApp, type TestResponse } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = { coursedate_id: number; provider: { id: number } };
const itemsOf = (response: TestResponse) => response.json<{ items: Item[] }>().items;
const idsOf = (response: TestResponse) => itemsOf(response).map(({ coursedate_id }) => coursedate_id);

async function connected() {
  const [me, partner] = [await createProvider(), await createProvider()];
  await approvePartner(database, me.id, partner.id);
  return { me, partner };
}

const everything =
  'include=course,course.products,location,gatherings,place,teaching_language,status,instructors,subinstances,bundle';

test("partners' lists contain only visible dates of public, active courses; own lists contain all", async () => {
  const { me, partner } = await connected();
  const own = await addDate(me, await me.course({ type: 'internal', active: 0 }), { isVisible: false });
  const course = await partner.course();
  const shown = await addDate(partner, course, { statusId: 3 });
  await addDate(partner, course, { isVisible: false });
  await addDate(partner, course, { deletedAt: '2026-01-01 00:00+00' });
  for (const hidden of [{ active: false }, { type: 'internal' }, { publishing_platform: 'own' }]) {
    await addDate(partner, await partner.course(hidden));
  }
  const all = await me.get('/v2/coursedates?include_partners=1&include_deleted=1');
  expect(idsOf(all)).toEqual([own, shown]);
  expect(itemsOf(all).map(({ provider }) => provider.id)).toEqual([me.id, partner.id]);
  expect(all.json().pagination.total_items).toBe(2);
  expect(idsOf(await me.get(`/v2/coursedates?partner_id=${partner.id}`))).toEqual([shown]);
  expect(idsOf(await me.get(`/v2/coursedates?include_partners=1&course_id=${course}`))).toEqual([shown]);
  expect(idsOf(await me.get(`/v2/coursedates?partner_id=${me.id}`))).toEqual([own]);
  expect(idsOf(await me.get('/v2/coursedates'))).toEqual([own]);
  const refused = await partner.get(`/v2/coursedates?partner_id=${me.id}`);
  expect([refused.status, refused.json()]).toEqual([403, { error: 'The partner connection is not approved' }]);
});

test('catalog URLs contain the course category, also for partner dates, children and bundle members', async () => {
  const { me, partner } = await connected();
  const category = `dancing-${process.pid}`;
  const categoryId = await addCategory(database, { title: 'Dancing', slug: category });
  for (const school of [me, partner]) {
    const course = await school.course({ title: `Tango ${school.id}` });
    await categorizeCourse(await school.ctx(), course, categoryId);
    const bundleId = await addBundle(school, 'Both');
    await addDate(school, course, { parentId: await addDate(school, course, { bundleId }), bundleId });
  }
  type Dated = { catalog_url: string };
  type Rich = Dated & { subinstances: Dated[]; bundle: { items: Dated[] } };
  const { items } = (await me.get('/v2/coursedates?include_partners=1&include=subinstances,bundle')).json<{
    items: Rich[];
  }>();
  const all = items.flatMap((date) => [date, ...date.subinstances, ...date.bundle.items]);
  expect(all).toHaveLength(14);
  const url = (id: number) => `https://catalog.example/${category}/tango-${id}`;
  expect(new Set(all.map((date) => date.catalog_url))).toEqual(new Set([url(me.id), url(partner.id)]));
});

test("a partner's items are found by the members that are shown alone, own ones by all", async () => {
  const { me, partner } = await connected();
  const fields = { title: 'Harbour sailing', reference: 'QX-17' };
  const [own, theirs] = [await me.course(fields), await partner.course(fields)];
  const capacity = { capacityMin: 5, capacityMax: 20 };
  const [ownDate, theirDate] = [await addDate(me, own, capacity), await addDate(partner, theirs, capacity)];
  const partnerOnly = `partner_id=${partner.id}`;
  const coursesOf = async (query: string) =>
    (await me.get(`/v2/courses?${query}`)).json<{ id: number }[]>().map(({ id }) => id);
  const datesOf = async (query: string) => idsOf(await me.get(`/v2/coursedates?${query}`));
  for (const query of ['reference=qx-17', 'q=qx', 'q=sailing+qx']) {
    expect(await coursesOf(`include_partners=1&${query}`), query).toEqual([own]);
    expect(await coursesOf(`${partnerOnly}&${query}`), query).toEqual([]);
  }
  for (const query of ['q=qx', 'under_minimum=1', 'q=harbour+17']) {
    expect(await datesOf(`include_partners=1&${query}`), query).toEqual([ownDate]);
    expect(await datesOf(`${partnerOnly}&${query}`), query).toEqual([]);
  }
  expect(await coursesOf(`${partnerOnly}&q=sail`)).toEqual([theirs]);
  expect(await datesOf('include_partners=1&q=sail')).toEqual([ownDate, theirDate]);
  const envelope = await me.get(`/v2/courses?${partnerOnly}&q=qx&paginate=1`);
  expect(envelope.json().pagination.total_items).toBe(0);
  const csv = await me.get(`/v2/coursedates?${partnerOnly}&q=qx&format=csv`);
  expect(csv.text.trim().split('\n')).toHaveLength(1);
  const batch = await me.get(`/v2/batch/coursedates?course_ids=${own},${theirs}&include_partners=1&under_minimum=1`);
  expect(batch.json<Item[]>().map(({ coursedate_id }) => coursedate_id)).toEqual([ownDate]);
  for (const query of [
    'has_participants=0',
    'seats_status=open',
    `course_id=${theirs}`,
    'start_date_at_min=2020-01-01',
  ])
    expect(await datesOf(`${partnerOnly}&${query}`), query).toEqual([theirDate]);
});

test("a partner's private data is never shown", async () => {
  const { me, partner } = await connected();
  const instructorId = await addInstructor(partner, {
    email: 'SECRET@x.example',
    phone: 'SECRET',
    phonePrefix: '+99',
    showOnWeb: true,
  });
  const locationId = await addLocation(partner, {
    ...{ title: 'Hall', emailBooking: 'SECRET@x.example', emailMoreinfo: 'SECRET@x.example', instructorId },
    ...{ capacityMax: 98_765_432, capacityBudget: 98_765_432 },
  });
  const secret = {
    ...{ eventUrl: 'https://SECRET.example', reference: 'SECRET', internalNote: 'SECRET', triggerValue: 'SECRET' },
    customProperties: { a: 'SECRET' },
  };
  const bundleId = await addBundle(partner, 'Both');
  const course = await partner.course({
    reference: 'SECRET',
    tags: [{ title: 'SECRET' }],
    custom_properties: { a: 'SECRET' },
  });
  const id = await addDate(partner, course, { ...secret, locationId, bundleId });
  await assignInstructor(partner, id, instructorId);
  await addGathering(partner, id, { eventUrl: 'https://SECRET.example', locationId, theme: 'Knots' }, [instructorId]);
  await addDate(partner, course, { ...secret, parentId: id });

  expect((await partner.get(`/v2/coursedates?${everything}`)).text).toContain('SECRET');
  for (const path of ['coursedates?include_partners=1&', 'nextcoursedates?include_partners=1&']) {
    const include = path.startsWith('next')
      ? 'include=course.products,course.reference_internal,instructors,subinstances,bundle'
      : everything;
    const response = await me.get(`/v2/${path}${include}`);
    expect(response.status).toBe(200);
    expect(response.text).not.toMatch(/SECRET|\+99|98765432/);
    const [item] = path.startsWith('next') ? response.json() : response.json().items;
    expect(item).toMatchObject({
      coursedate_id: id,
      ...{ event_url: null, reference: null, trigger_value: null, custom_properties: null, deleted_at: null },
      location: { title: 'Hall', email_booking: null, email_moreinfo: null, capacity_max: 0 },
      gatherings: [{ event_url: null, theme: 'Knots', instructors: [{ name: 'Kari Nordmann', email: '', phone: '' }] }],
      instructors: [{ fullname: 'Kari Nordmann', email: '', phone: '' }],
      course: { reference: null, tags: [], custom_properties: null },
      subinstances: [{ parent_id: id, event_url: null, reference: null }],
      bundle: { title: 'Both', items: [{ coursedate_id: id, event_url: null }] },
    });
  }
});

test('children and bundle items follow the same visibility rule', async () => {
  const { me, partner } = await connected();
  const [course, internal] = [await partner.course(), await partner.course({ type: 'internal' })];
  const bundleId = await addBundle(partner, 'Both');
  const parent = await addDate(partner, course, { bundleId });
  const child = await addDate(partner, course, { parentId: parent, bundleId });
  const hidden = await addDate(partner, course, { parentId: parent, bundleId, isVisible: false });
  const inner = await addDate(partner, internal, { parentId: parent, bundleId });
  const seen = async (response: TestResponse) => {
    const item = response.json().items[0];
    const ids = (items: Item[]) => items.map(({ coursedate_id }) => coursedate_id);
    return [ids(item.subinstances), ids(item.bundle.items)];
  };
  const query = `coursedate_id=${parent}&include=subinstances,bundle`;
  expect(await seen(await me.get(`/v2/coursedates?include_partners=1&${query}`))).toEqual([[child], [parent, child]]);
  expect(await seen(await partner.get(`/v2/coursedates?${query}`))).toEqual([
    [child, hidden, inner],
    [parent, child, hidden, inner],
  ]);
});

test('archived and hidden instructors of a partner are never shown; own ones are', async () => {
  const { me, partner } = await connected();
  for (const school of [me, partner]) {
    const shown = await addInstructor(school, { showOnWeb: true });
    const hidden = await addInstructor(school, { showOnWeb: false });
    const archived = await addInstructor(school, { showOnWeb: true, archivedAt: '2026-01-01 00:00+00' });
    const locationId = await addLocation(school, { instructorId: hidden });
    const dateId = await addDate(school, await school.course(), { locationId });
    for (const one of [shown, hidden, archived]) await assignInstructor(school, dateId, one);
    await addGathering(school, dateId, { locationId }, [shown, hidden, archived]);
    const response = await me.get(`/v2/coursedates?include_partners=1&coursedate_id=${dateId}&${everything}`);
    const [date] = response.json<{ items: Taught[] }>().items;
    const upcoming = await me.get('/v2/nextcoursedates?include_partners=1&include=instructors');
    const sameDate = upcoming
      .json<(Taught & { coursedate_id: number })[]>()
      .find((one) => one.coursedate_id === dateId)!;
    const seen = school === me ? [shown, hidden, archived] : [shown];
    for (const { instructors, gatherings } of [date!, sameDate]) {
      expect(instructors.map(({ id }) => id)).toEqual(seen);
      expect(gatherings[0]!.instructors.map(({ id }) => id)).toEqual(seen);
    }
    const leader = school === me ? hidden : null;
    expect([date!.location.idInstructor, date!.location.instructor?.id ?? null]).toEqual([leader, leader]);
    expect(date!.gatherings[0]!.location.instructor?.id ?? null).toBe(leader);
  }
});
type Led = { idInstructor: number | null; instructor: { id: number } | null };
type Taught = {
  instructors: { id: number }[];
  location: Led;
  gatherings: { instructors: { id: number }[]; location: Led }[];
};
