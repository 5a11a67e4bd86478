import { expect, onTestFinished, test } from 'vitest';
import { categories } from '../../../src/database/tables/catalog.ts';
import { customers } from '../../../src/database/tables/customers.ts';
import { categorizeCourse } from '../../../src/domains/courses/courses/category-service.ts';
import {
  addBundle,
  addDate,
  addGathering,
  addInstructor,
  addLocation,
  addParticipants,
  changeDate,
  findMunicipality,
  assignInstructor,
} from '../../support/dates.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { write } from '../../support/orders.ts';
import { openTestApp, settings, sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/) as string;
const first = async (me: Provider, query = '') => (await me.get(`/v2/coursedates?${query}`)).json().items[0];

test('a course date shows all its fields, in the envelope', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'Knots' });
  const slug = `ropes-${process.pid}`;
  const created = await testApp.database.writeShared(async ({ tx, now: createdAt }) => {
    const timestamps = { createdAt, updatedAt: createdAt };
    const values = [slug, `sailing-${process.pid}`].map((one) => ({ title: 'Ropes', slug: one, ...timestamps }));
    return tx.insert(categories).values(values).returning();
  });
  // The order of the parameters does not matter.
  for (const category of created.reverse()) await categorizeCourse(await me.ctx(), courseId, category.id);
  const { id: placeId } = await findMunicipality(me, 'Bergen');
  const locationId = await addLocation(me);
  const parentId = await addDate(me, courseId);
  const id = await addDate(me, courseId, {
    ...{ parentId, locationId, placeId, title: 'Knots, June', startAt: '2030-06-10', endAt: '2030-06-12' },
    ...{ deadlineAt: '2030-06-01', startTimeAt: '09:00', endTimeAt: '15:30:10', timezone: 'Europe/London' },
    ...{ eventUrl: 'https://e.example', externalBookingUrl: 'https://b.example', isVirtual: true, isVisible: false },
    ...{ visibleWhenPassedDeadline: false, reference: 'R-1', triggerValue: 'june', teachingLanguageId: 'en' },
    ...{ internalNote: 'NOTE', statusId: 2, capacityMax: 5, capacityMin: 1, capacityOverbook: 2, capacityWait: 4 },
    customProperties: { a: 'b' },
  });
  const response = await me.get(`/v2/coursedates?coursedate_id=${id}`);
  expect(response.status).toBe(200);
  const page = { total_items: 1, per_page: 75, current_page: 1, total_pages: 1 };
  expect(response.json()).toEqual({
    pagination: { ...page, previous_page: null, next_page: null },
    items: [
      {
        coursedate_id: id,
        title: 'Knots, June',
        start_at: '2030-06-10',
        end_at: '2030-06-12',
        deadline_at: '2030-06-01',
        start_time_at: '09:00:00',
        end_time_at: '15:30:10',
        timezone: 'Europe/London',
        event_url: 'https://e.example',
        external_booking_url: 'https://b.example',
        is_virtual: true,
        is_visible: false,
        catalog_url: expect.stringMatching(`^https://catalog.example/${slug}/knots(-${courseId})?$`) as string,
        visible_when_passed_deadline: false,
        reference: 'R-1',
        parent_id: parentId,
        trigger_value: 'june',
        seats_status: 'open',
        seats: {
          allocated_capacity: { num: 5, num_overbooked: 2, num_waiting: 4 },
          free: { num: 5, num_waiting: 4 },
          booking_status: { num: 0, num_confirmed: 0, num_unconfirmed: 0, num_waiting: 0 },
        },
        custom_properties: { a: 'b' },
        created_at: moment,
        updated_at: moment,
        deleted_at: null,
        contacts: [],
        course_id: courseId,
        location_id: locationId,
        place_id: placeId,
        teaching_language_id: 'en',
        status_id: 2,
      },
    ],
  });
  expect(await first(me)).toMatchObject({
    coursedate_id: parentId,
    title: 'Knots',
    start_time_at: null,
    end_time_at: null,
    timezone: null,
    event_url: null,
    parent_id: null,
    trigger_value: null,
    custom_properties: null,
    location_id: null,
    place_id: null,
  });
});

test('timestamps have the summer or winter offset', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  await addDate(me, courseId, { createdAt: '2026-01-15 12:00+00', updatedAt: '2026-07-15 12:00+00' });
  expect(await first(me)).toMatchObject({
    created_at: '2026-01-15T13:00:00+01:00',
    updated_at: '2026-07-15T14:00:00+02:00',
  });
});

test('seat counters are kept by the database and shown in three states', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const capacities = { capacityMax: 4, capacityOverbook: 1, capacityWait: 2 };
  const [open, waiting, full, unlimited, over] = [
    await addDate(me, courseId, capacities),
    await addDate(me, courseId, capacities),
    await addDate(me, courseId, capacities),
    await addDate(me, courseId, { capacityWait: 1 }),
    await addDate(me, courseId, capacities),
  ];
  await addParticipants(me, courseId, open, [1, 7, 3, 4, 8]);
  await addParticipants(me, courseId, waiting, [1, 1, 1, 7, 3]);
  await addParticipants(me, courseId, full, [1, 1, 7, 7, 3, 3]);
  await addParticipants(me, courseId, unlimited, [1, 3]);
  await addParticipants(me, courseId, over, [1, 1, 1, 1, 2, 3, 3, 3]);
  const items = (await me.get('/v2/coursedates')).json().items as { seats_status: string; seats: object }[];
  const allocated_capacity = { num: 4, num_overbooked: 1, num_waiting: 2 };
  expect(items.map(({ seats_status, seats }) => [seats_status, seats])).toEqual([
    [
      'open',
      {
        allocated_capacity,
        free: { num: 2, num_waiting: 1 },
        booking_status: { num: 2, num_confirmed: 1, num_unconfirmed: 1, num_waiting: 1 },
      },
    ],
    [
      'waiting_list',
      {
        allocated_capacity,
        free: { num: 0, num_waiting: 1 },
        booking_status: { num: 4, num_confirmed: 3, num_unconfirmed: 1, num_waiting: 1 },
      },
    ],
    [
      'fully_booked',
      {
        allocated_capacity,
        free: { num: 0, num_waiting: 0 },
        booking_status: { num: 4, num_confirmed: 2, num_unconfirmed: 2, num_waiting: 2 },
      },
    ],
    [
      'open',
      {
        allocated_capacity: { num: 0, num_overbooked: 0, num_waiting: 1 },
        free: { num: 0, num_waiting: 0 },
        booking_status: { num: 1, num_confirmed: 1, num_unconfirmed: 0, num_waiting: 1 },
      },
    ],
    [
      'fully_booked',
      {
        allocated_capacity,
        free: { num: 0, num_waiting: 0 },
        booking_status: { num: 5, num_confirmed: 5, num_unconfirmed: 0, num_waiting: 3 },
      },
    ],
  ]);
});

/** A date with every relation. */
async function richDate(me: Provider, title = 'Rich') {
  const courseId = await me.course({ title, price_value: 900 });
  const { id: placeId, parentId } = await findMunicipality(me, 'Bergen');
  const instructorId = await addInstructor(me, { phone: '1', email: 'k@x.example' });
  const locationId = await addLocation(me, { title: 'Hall', placeId, instructorId });
  const bundleId = await addBundle(me, 'Both');
  const id = await addDate(me, courseId, { locationId, placeId, placeAdditionalInfo: 'Door 2', bundleId, statusId: 2 });
  await assignInstructor(me, id, instructorId);
  const times = { gatheringAt: '2030-01-11 18:00', gatheringEndAt: '2030-01-11 20:00' };
  const late = await addGathering(
    me,
    id,
    { ...times, locationId, theme: 'T', description: 'D', eventUrl: 'https://g.example' },
    [instructorId],
  );
  const past = { gatheringAt: '2020-01-10 18:00', gatheringEndAt: '2020-01-10 20:00' };
  const early = await addGathering(me, id, past);
  await addGathering(me, id, { deletedAt: '2026-01-01 00:00+00' });
  const child = await addDate(me, courseId, { parentId: id, triggerValue: 'x', statusId: 4 });
  await addDate(me, courseId, { parentId: id, deletedAt: '2026-01-01 00:00+00' });
  const sibling = await addDate(me, courseId, { bundleId });
  return { courseId, placeId, parentId, instructorId, locationId, bundleId, id, late, early, child, sibling };
}

test('include[] embeds exactly the requested relations', async () => {
  const me = await createProvider();
  const created = await richDate(me);
  const plain = await first(me);
  const including = async (...names: string[]) => {
    const item = await first(me, names.map((name) => `include[]=${name}`).join('&'));
    const added = Object.keys(item).filter((name) => !(name in plain));
    return Object.fromEntries(added.map((name) => [name, item[name]]));
  };
  const instructor = {
    id: created.instructorId,
    title: 'Kari Nordmann',
    name: 'Kari Nordmann',
    fullname: 'Kari Nordmann',
    phone: '1',
    company: '',
    position: '',
    email: 'k@x.example',
    is_archived: false,
  };
  expect(await including('status')).toEqual({ status: { id: 2, idType: 2, title: 'Will run' } });
  expect(await including('teaching_language')).toEqual({ teaching_language: { id: 'no', title: 'Norwegian' } });
  expect(await including('instructors')).toEqual({ instructors: [instructor] });
  expect(await including('place')).toEqual({
    place: {
      id: created.placeId,
      title: 'Bergen',
      title_additional_info: 'Door 2',
      parent_id: created.parentId,
      parent_title: 'Vestland',
    },
  });
  const [own] = (await me.get('/v2/locations')).json<Record<string, unknown>[]>();
  const location = Object.fromEntries(Object.entries(own!).filter(([name]) => name !== 'updated_at'));
  expect(await including('location')).toEqual({ location });
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;
  const gathering = { idInstance: created.id, created_at: moment, updated_at: moment };
  expect(await including('gatherings')).toEqual({
    gatherings: [
      {
        ...{ ...gathering, id: created.early, gathering_at: '2020-01-10 18:00', gathering_end_at: '2020-01-10 20:00' },
        ...{ idLocation: null, description: null, theme: null, event_url: null, is_future: false },
        ...{ instructors: [], location: null },
      },
      {
        ...{ ...gathering, id: created.late, gathering_at: '2030-01-11 18:00', gathering_end_at: '2030-01-11 20:00' },
        ...{ idLocation: created.locationId, description: 'D', theme: 'T', event_url: 'https://g.example' },
        ...{ is_future: true, instructors: [instructor], location },
      },
    ],
  });
  expect(await including('provider')).toEqual({
    provider: { id: me.id, title: me.title, web_address: '', catalog_url: expect.any(String) as string },
  });
  expect(await including('subinstances')).toEqual({
    subinstances: [await first(me, `coursedate_id=${created.child}`)],
  });
  expect(await including('waiting')).toEqual({ waiting: { mode: 'promote', offer_hours: 24, open_offers: 0 } });
  expect(await including('cancellation_message')).toEqual({ cancellation_message: null });
  expect(await including('bundle')).toEqual({
    bundle: {
      id: created.bundleId,
      title: 'Both',
      items: [plain, await first(me, `coursedate_id=${created.sibling}`)],
    },
  });
  const { course } = await including('course');
  const [whole] = (await me.get('/v2/courses')).json<Record<string, unknown>[]>();
  const left = [
    'descriptions',
    'description_languages',
    'lead_settings',
    'publishing_platform',
    'related_items_updated_at',
  ];
  left.push('created_at', 'updated_at', 'deleted_at');
  const listed = Object.fromEntries(Object.entries(whole!).filter(([name]) => !left.includes(name)));
  expect(course).toEqual(listed);
  expect(await including('course.products')).toEqual({
    course: { ...listed, products: [expect.objectContaining({ title: 'Rich', price: 900 })] },
  });
  expect(
    await first(me, `coursedate_id=${created.sibling}&include=place,location,instructors,subinstances`),
  ).toMatchObject({
    place: { title_additional_info: null },
    location: null,
    instructors: [],
    subinstances: [],
  });
  const norsk = await me.get('/v2/coursedates?include=status,teaching_language', { 'accept-language': 'no' });
  expect(norsk.json().items[0]).toMatchObject({
    status: { title: 'Gjennomføres' },
    teaching_language: { title: 'Norsk' },
  });
});

test('course.customer is the customer of a corporate course', async () => {
  const me = await createProvider();
  const customer = write(me, async (tx, now) => {
    const values = { providerId: me.id, title: 'Fjord AS', createdAt: now, updatedAt: now };
    return (await tx.insert(customers).values(values).returning())[0]!.id;
  });
  await addDate(me, await me.course({ type: 'corporate', customer_id: await customer }));
  await addDate(me, await me.course());
  const { items } = (await me.get('/v2/coursedates?include[]=course.customer')).json();
  expect(items[0].course.customer).toMatchObject({ id: await customer, title: 'Fjord AS' });
  expect(items[1].course.customer).toBeNull();
});

test('an unknown include is rejected with the list of valid ones', async () => {
  const response = await (await createProvider()).get('/v2/coursedates?include[]=participants');
  expect(response.status).toBe(400);
  expect(response.json().error).toMatch(
    /^Field\(s\) not valid: include\. Supported values of include: course, course\.customer, course\.products, .*subinstances, bundle, provider, waiting, bookable, cancellation_message$/,
  );
});

test('the number of statements per page is constant plus one per relation', async () => {
  const me = await createProvider();
  const statements = async (query: string, app = testApp.app) => {
    const sent = await recordStatements(async () => {
      const response = await app.inject({ url: `/v2/${query}`, headers: { 'x-api-key': me.apiKey } });
      expect(response.statusCode).toBe(200);
    });
    return sent.length;
  };
  await me.get('/v2/coursedates'); // The first use of a key is noted.
  const names = ['', 'status', 'teaching_language', 'place', 'instructors', 'provider', 'location', 'subinstances'];
  names.push('course', 'course.products', 'course.customer', 'gatherings', 'bundle', 'waiting', 'cancellation_message');
  const cost = async () => {
    const costs: Record<string, number> = {};
    for (const name of names) costs[name] = await statements(`coursedates?include=${name}`);
    return { ...costs, next: await statements('nextcoursedates') };
  };
  await richDate(me);
  const one = await cost();
  for (let n = 0; n < 3; n += 1) await richDate(me, `Rich ${n}`);
  const courseId = await me.course();
  for (let n = 0; n < 5; n += 1) await assignInstructor(me, await addDate(me, courseId), await addInstructor(me));
  expect(await cost()).toEqual(one);
  // Key look-up; rows with course titles; categories. The last page contains the total.
  expect(one).toMatchObject({ '': 3, status: 3, teaching_language: 3, place: 4, instructors: 4, provider: 4 });
  // Location with place and instructor; children with theirs; course with categories and tags; bundle with its dates.
  expect(one).toMatchObject({ location: 6, subinstances: 5, course: 6, 'course.products': 7, bundle: 6, waiting: 4 });
  // Gatherings with instructors and their locations, those with place and instructor.
  expect(one).toMatchObject({ gatherings: 8 });

  const bare = await openTestApp(testApp.database, { settings: { ...settings, catalogUrl: null } });
  onTestFinished(() => bare.app.close());
  // Without CATALOG_URL, the catalog of the school is queried instead of categories.
  expect(await statements('coursedates', bare.app)).toBe(3);
  const { body } = await bare.app.inject({ url: '/v2/coursedates', headers: { 'x-api-key': me.apiKey } });
  expect((JSON.parse(body) as { items: object[] }).items[0]).toMatchObject({ catalog_url: null });
});

test('deleted dates are listed only with include_deleted', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const [remaining, gone] = [await addDate(me, courseId), await addDate(me, courseId)];
  await changeDate(me, gone, { deletedAt: '2026-01-15 12:00+00' });
  const ids = async (query: string) =>
    (await me.get(`/v2/coursedates?${query}`)).json().items.map((one: { coursedate_id: number }) => one.coursedate_id);
  expect(await ids('')).toEqual([remaining]);
  expect(await ids('include_deleted=1')).toEqual([remaining, gone]);
  expect(await first(me, `include_deleted=1&coursedate_id=${gone}`)).toMatchObject({
    deleted_at: '2026-01-15T13:00:00+01:00',
  });
});
