import { Type, type TSchema } from '@sinclair/typebox';
import { eq, getTableColumns, inArray } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { courseTranslations, courses, products } from '../../src/database/tables/courses.ts';
import { courseDates, gatherings } from '../../src/database/tables/coursedates.ts';
import { instructors, locations } from '../../src/database/tables/places.ts';
import { providers } from '../../src/database/tables/providers.ts';
import { responses } from '../../src/http/responses.ts';
import { WhoAmI } from '../../src/domains/school/auth/schema.ts';
import {
  batchCourseDateList,
  courseDateList,
  datesOfCourseList,
  nextCourseDateList,
} from '../../src/domains/courses/coursedates/list.ts';
import { Duration } from '../../src/domains/courses/courses/schema.ts';
import { courseItem, courseList } from '../../src/domains/courses/courses/list.ts';
import { instructorList } from '../../src/domains/courses/instructors/list.ts';
import { Instructor } from '../../src/domains/courses/instructors/fields.ts';
import { locationList } from '../../src/domains/courses/locations/list.ts';
import { School } from '../../src/domains/school/schools/fields.ts';
import { Tag } from '../../src/domains/courses/tags/fields.ts';
import { member } from '../../src/core/schema/types.ts';
import { isOpenTo } from './member-access.ts';
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

/** The schema of each response to a publishable key, which has the members that are open to it alone. */
export const publicResponses: Record<string, TSchema> = {
  'GET /v2/courses': responses.listOrEnvelope('List', courseList.View),
  'GET /v2/courses/{id}': courseItem.View,
  'GET /v2/coursedates': responses.envelope('List', courseDateList.View),
  'GET /v2/nextcoursedates': nextCourseDateList.View,
  'GET /v2/batch/coursedates': batchCourseDateList.View,
  'GET /v2/courses/{course_id}/coursedates': datesOfCourseList.View,
  'GET /v2/courses/{course_id}/coursedates/{id}': courseDateList.View,
  'GET /v2/locations': locationList.View,
  'GET /v2/locations/{id}': locationList.View,
  'GET /v2/instructors': instructorList.View,
  'GET /v2/instructors/{id}': Instructor,
  'GET /v2/course-tags': Tag,
  'GET /v2/course-tags/{id}': Tag,
  'GET /v2/durations': Duration,
  'GET /v2/schools': Type.Object({ school: member.open(School) }),
  'GET /v2/whoami': WhoAmI,
};

/** The paths of a response that its endpoint may not have, without indexes. */
export function foreignMembers(route: string, text: string): string[] {
  const schema = publicResponses[route] ?? {};
  const found = new Set<string>();
  const walk = (value: unknown, path: string[]) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) walk(item, path);
      return;
    }
    for (const [name, one] of Object.entries(value)) {
      const below = [...path, name];
      if (isOpenTo('publishable', schema as TSchema, below)) walk(one, below);
      else found.add([route, ...below].join('.'));
    }
  };
  walk(JSON.parse(text), []);
  return [...found];
}

export const revealsSecret = (text: string) => text.includes(secret) || text.includes(String(secretNumber));
