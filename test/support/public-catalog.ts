import { eq, getTableColumns, inArray } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { courseTranslations, courses, products } from '../../src/database/tables/courses.ts';
import { courseDates, gatherings } from '../../src/database/tables/coursedates.ts';
import { instructors, locations } from '../../src/database/tables/places.ts';
import { providers } from '../../src/database/tables/providers.ts';
import { addBundle, addDate, addGathering, addInstructor, addLocation, assignInstructor } from './dates.ts';
import { createCustomer, createOrder, createPlace, createUser, write } from './orders.ts';
import type { Provider, TestApp } from './test-app.ts';

/** A text in every private column of public rows, and in every text column of private rows. */
export const secret = 'SECRET-4c1d';
/** A number in every private number of public rows. */
export const secretNumber = 8_219_043;

type Values<T extends { $inferInsert: object }> = Partial<T['$inferInsert']>;

const codes = /zone|country|currency|language|slug/i;

/** A row with the secret in every text column. */
function secretRow<T extends PgTable & { $inferInsert: object }>(table: T): Values<T> {
  const values = Object.entries(getTableColumns(table)).flatMap(([name, column]) => {
    if (column.columnType === 'PgJsonb') return [[name, { note: secret }]];
    const isText = column.getSQLType() === 'text' && (column.enumValues ?? []).length === 0 && !codes.test(name);
    return isText ? [[name, secret]] : [];
  });
  return Object.fromEntries(values) as Values<T>;
}

const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, secret]));
const numbers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, secretNumber]));
const customProperties = { note: secret };

/** The private columns of public rows. */
const inSchool: Values<typeof providers> = texts(
  ...['reference', 'phone', 'emailAdmin', 'email', 'emailBooking', 'emailMoreInfo'],
);
const inCourse: Values<typeof courses> = {
  ...texts('reference', 'referenceInternal', 'emailBooking', 'emailMoreInfo'),
  customProperties,
};
const inProduct: Values<typeof products> = texts('itemNumber', 'accountNumber', 'costUnit', 'externalId');
const inDate: Values<typeof courseDates> = {
  ...texts('eventUrl', 'reference', 'triggerValue', 'internalNote'),
  ...{ customProperties, capacityMax: 20, ...numbers('capacityWait', 'capacityOverbook') },
};
const inInstructor: Values<typeof instructors> = texts(
  ...['phone', 'phonePrefix', 'email', 'position', 'company', 'description'],
);
const inLocation: Values<typeof locations> = {
  ...texts('emailBooking', 'emailMoreinfo'),
  ...numbers('cancellationDays', 'notificationDays', 'capacityBudget', 'capacityMax', 'capacityMin'),
};

/**
 * A school with public rows, whose private columns have the secret, and with rows that are private for every reason;
 * `ids` has both. `publicIds` are the public ones.
 */
export async function createPublicCatalog(testApp: TestApp, me?: Provider) {
  const school = me ?? (await testApp.createProvider('Public school'));
  await write(school, (tx) => tx.update(providers).set(inSchool).where(eq(providers.id, school.id)));
  const people = await addPeople(school);
  const places = await addPlaces(testApp, school);
  const made = await addCourses(school, people.customer);
  const dates = await addDates(school, made, places);
  await createOrder(school, { courseId: made.open[0]!, dateId: dates.open[0]!, users: [people.user] });
  const tags = (await school.get('/v2/course-tags')).json<{ id: number }[]>().map(({ id }) => id);
  const publicIds = {
    ...{
      courses: made.open,
      dates: dates.open,
      instructors: places.open.instructors,
      locations: places.open.locations,
    },
  };
  const ids = {
    ...{ provider: school.id, partner: school.id, courses: [...made.open, ...made.hidden] },
    ...{ dates: [...dates.open, ...dates.hidden], customers: [people.customer], users: [people.user], tags },
    ...{ instructors: [...places.open.instructors, ...places.hidden.instructors] },
    locations: [...places.open.locations, ...places.hidden.locations],
  };
  return { me: school, ids, publicIds };
}
export type PublicCatalog = Awaited<ReturnType<typeof createPublicCatalog>>;

async function addPeople(me: Provider) {
  const customer = await createCustomer(me, { title: secret, email: secret });
  const user = await createUser(me, { firstname: secret, lastname: secret, username: secret, customerId: customer });
  return { customer, user };
}

async function addPlaces(testApp: TestApp, me: Provider) {
  const shown = { ...inInstructor, showOnWeb: true, firstname: 'Kari', lastname: 'Public' };
  const open = [await addInstructor(me, shown), await addInstructor(me, shown)];
  const hidden = [
    await addInstructor(me, { ...secretRow(instructors), showOnWeb: false }),
    await addInstructor(me, { ...secretRow(instructors), showOnWeb: true, archivedAt: '2026-01-01 00:00:00' }),
  ];
  const placeId = await createPlace(testApp);
  const locationsOf = async (instructorId: number) =>
    addLocation(me, { ...inLocation, title: 'Hall', placeId, instructorId });
  const openLocations = [await locationsOf(open[0]!), await locationsOf(hidden[0]!), await locationsOf(hidden[1]!)];
  const hiddenLocations = [await addLocation(me, secretRow(locations)), await addLocation(me, secretRow(locations))];
  return {
    placeId,
    open: { instructors: open, locations: openLocations },
    hidden: { instructors: hidden, locations: hiddenLocations },
  };
}

async function addCourses(me: Provider, customer: number) {
  const open: number[] = [];
  for (const tags of [[{ title: 'a' }, { title: 'b' }], [{ title: 'b' }], []]) open.push(await me.course({ tags }));
  const hidden = [
    await me.course({ type: 'internal', tags: [{ title: secret }, { title: 'b' }] }),
    await me.course({ type: 'corporate', customer_id: customer }),
    await me.course({ active: false }),
    await me.course({ publishing_platform: 'own' }),
    await me.course(),
  ];
  await write(me, async (tx, now) => {
    await tx.update(courses).set(inCourse).where(inArray(courses.id, open));
    await tx.update(products).set(inProduct).where(inArray(products.courseId, open));
    for (const id of hidden) {
      const row = { ...secretRow(courses), title: `${secret} ${id}` };
      await tx.update(courses).set(row).where(eq(courses.id, id));
    }
    await tx.update(products).set(secretRow(products)).where(inArray(products.courseId, hidden));
    await tx
      .update(courses)
      .set({ deletedAt: now })
      .where(eq(courses.id, hidden.at(-1)!));
    const translation = { providerId: me.id, courseId: open[0]!, languageId: 'en', textLead: 'In English' };
    await tx.insert(courseTranslations).values(translation);
  });
  return { open, hidden };
}

type Places = Awaited<ReturnType<typeof addPlaces>>;

async function addDates(me: Provider, made: { open: number[]; hidden: number[] }, { placeId, open, hidden }: Places) {
  const bundleId = await addBundle(me, 'Bundle');
  const secretDate = { ...secretRow(courseDates), bundleId };
  const shown: number[] = [];
  for (const [n, course] of made.open.entries()) {
    const values = { ...inDate, placeId, locationId: open.locations[n]!, startAt: `2031-0${n + 1}-10`, bundleId };
    const date = await addDate(me, course, values);
    shown.push(date, await addDate(me, course, { ...inDate, parentId: date, statusId: 1 + n }));
    await addGathering(me, date, { eventUrl: secret, theme: 'Theme', locationId: open.locations[0]! }, [
      ...[open.instructors[0]!, hidden.instructors[0]!, hidden.instructors[1]!],
    ]);
    for (const id of [...open.instructors, ...hidden.instructors]) await assignInstructor(me, date, id);
  }
  const past = { startAt: '2020-01-10', visibleWhenPassedDeadline: false };
  const concealed = [
    await addDate(me, made.open[0]!, { ...secretDate, isVisible: false, parentId: shown[0]! }),
    await addDate(me, made.open[0]!, { ...secretDate, ...past }),
    await addDate(me, made.open[1]!, { ...secretDate, deletedAt: '2026-01-01 00:00:00', parentId: shown[0]! }),
  ];
  for (const course of made.hidden) concealed.push(await addDate(me, course, secretDate));
  await write(me, (tx) =>
    tx.update(courseDates).set({ locationId: hidden.locations[0]! }).where(inArray(courseDates.id, concealed)),
  );
  await addGathering(me, concealed[0]!, { ...(secretRow(gatherings) as object), locationId: hidden.locations[1]! });
  return { open: shown, hidden: concealed };
}

/** The members that a response may have: `true` for a value, or the members of an object or of the objects in a list. */
type Members = { [name: string]: true | Members };
const of = (names: string, more: Members = {}): Members => ({
  ...Object.fromEntries(names.split(' ').map((name) => [name, true as const])),
  ...more,
});
const titled = of('id title');
const language = { teaching_language: titled };
const product = of('id title title_label price currency is_main_product vat_percentage');
const embeddedCourse = of(
  'id title catalog_url is_full_time is_part_time external_booking_url external_more_info_url ' +
    'visit_address visit_address2 visit_zipcode visit_city',
  {
    ...{ level: titled, form_of_teaching: titled, ...language, time_of_day: titled, tags: titled, products: product },
    ...{ duration: of('value code unit'), price: of('value currency comment') },
    categories: of('id title idParent titleParent'),
  },
);
const provider = { provider: of('id title web_address catalog_url') };
const course: Members = {
  ...of('description_languages updated_at', embeddedCourse),
  descriptions: of('lead description place prerequisites duration credits submissions hotelInfo audience'),
  ...provider,
};
const instructor = of('id title name fullname');
const location = of(
  'id title custom_title address address2 address3 zipcode city state county country country_code ' +
    'idCountry idPlace lat lng timezone long_text short_text short_text_2 full_address is_virtual',
  { instructor, place: of('id idParent title idCountry country', { parent: of('id idParent title') }) },
);
const plainDate = of(
  'coursedate_id title start_at end_at deadline_at start_time_at end_time_at timezone ' +
    'external_booking_url is_virtual catalog_url seats_status updated_at course_id location_id ' +
    'place_id teaching_language_id status_id',
  { seats: { free: of('num') } },
);
const gathering = of('id idInstance gathering_at gathering_end_at idLocation description theme is_future', {
  instructors: instructor,
  location,
});
const date: Members = {
  ...plainDate,
  ...{ course: embeddedCourse, location, gatherings: gathering, instructors: instructor, subinstances: plainDate },
  ...{ ...language, ...provider, status: of('id idType title'), bundle: of('id title', { items: plainDate }) },
  place: of('id title title_additional_info parent_id parent_title'),
};
const pagination = of('total_items per_page current_page total_pages previous_page next_page');
const address = of('address zip city');

/** The members of each response to a publishable key. */
export const publicResponses: Record<string, Members> = {
  'GET /v2/courses': { ...course, pagination, items: course },
  'GET /v2/courses/{id}': course,
  'GET /v2/coursedates': { pagination, items: date },
  'GET /v2/nextcoursedates': date,
  'GET /v2/batch/coursedates': date,
  'GET /v2/courses/{course_id}/coursedates': date,
  'GET /v2/courses/{course_id}/coursedates/{id}': date,
  'GET /v2/locations': location,
  'GET /v2/instructors': of('id firstname lastname'),
  'GET /v2/instructors/{id}': of('id firstname lastname'),
  'GET /v2/course-tags': titled,
  'GET /v2/durations': of('id code title title_plural'),
  'GET /v2/schools': {
    school: of('title org_nr web_address text_tagline text_description updated_at', {
      ...{ post_address: address, visit_address: address },
    }),
  },
  'GET /v2/whoami': of('timezone server_time version', {
    ...{ provider: titled, key: of('id profile expires_at'), rate_limit: of('per_second burst') },
  }),
};

/** The paths of a response that its endpoint may not have, without indexes. */
export function foreignMembers(route: string, text: string): string[] {
  const found = new Set<string>();
  const walk = (value: unknown, members: true | Members, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) walk(item, members, path);
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      const below = members === true ? undefined : members[name];
      if (below === undefined) found.add(`${path}.${name}`);
      else walk(member, below, `${path}.${name}`);
    }
  };
  walk(JSON.parse(text), publicResponses[route] ?? {}, route);
  return [...found];
}

export const revealsSecret = (text: string) => text.includes(secret) || text.includes(String(secretNumber));
