import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { products } from '../../../src/database/tables/courses.ts';
import { parseCalendar } from '../../support/calendars.ts';
import { openCatalog } from '../../support/catalog.ts';
import { personFields, readFormFields, readMain } from '../../support/catalog-form.ts';
import { addDate, addLocation, changeDate, isoDay } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

type Data = Record<string, any>;

/** A school with a course, and what each document of its catalog has of its only date. */
async function createSchool(course: Data = {}) {
  const me = await testApp.createProvider();
  const catalog = await openCatalog(testApp, me);
  const courseId = await me.course({ title: 'Knots', ...course });
  const readText = async (path: string) => (await catalog.get(path, { 'accept-language': 'en' })).text;
  const read = async () => {
    const { items } = (await catalog.get('/dates.json')).json<{ items: [Data] }>();
    const page = await readText(`/dates/knots-${String(items[0]['id'])}`);
    const form = await catalog.get(`/dates/knots-${String(items[0]['id'])}/book`, { 'accept-language': 'en' });
    const calendar = parseCalendar(await readText(`/dates/knots-${String(items[0]['id'])}/calendar.ics`));
    return {
      json: items[0],
      page: readMain({ text: page }),
      list: readMain({ text: await readText('') }),
      course: readMain({ text: await readText(`/courses/knots-${courseId}`) }),
      /** Undefined where it redirects. */
      form: form.status === 303 ? undefined : readMain(form),
      event: calendar.events[0]!,
      entry: /<summary>([^<]*)<\/summary>/.exec(await readText('/feed.atom'))?.[1],
      data: JSON.parse(/<script type="application\/ld\+json">([^<]*)</.exec(page)![1]!) as Data,
    };
  };
  return { me, catalog, courseId, read };
}

const days = { start_at: '2030-06-10', end_at: '2030-06-10' };

test('a search for a place without a match is the place of a date', async () => {
  const { me, catalog, courseId, read } = await createSchool();
  const fields = { ...days, place_by_search: 'Kulturhuset, room 7' };
  expect((await me.post(`/v2/courses/${courseId}/coursedates`, fields)).status).toBe(201);
  const { json, page, list, course, form, event, entry, data } = await read();
  for (const text of [page, list, course, form]) expect(text).toContain('|Kulturhuset, room 7|');
  expect(json['place']).toMatchObject({ title: null, city: null, additional_info: 'Kulturhuset, room 7' });
  expect(event.location).toBe('Kulturhuset, room 7');
  expect(entry).toContain('Kulturhuset, room 7');
  expect(data['location']).toEqual({ '@type': 'Place', name: 'Kulturhuset, room 7', address: 'Kulturhuset, room 7' });
  expect((await catalog.get('?q=kulturhuset')).text).toContain('Knots</a>');
});

test('the additional info of a place is shown with the place', async () => {
  const { me, courseId, read } = await createSchool();
  const fields = { ...days, place_by_search: 'Bergen', place_additional_info: 'Room 7, 2nd floor' };
  expect((await me.post(`/v2/courses/${courseId}/coursedates`, fields)).status).toBe(201);
  const { json, page, list, course, form, event, entry, data } = await read();
  for (const text of [page, form]) expect(text).toContain('|Bergen|Room 7, 2nd floor|');
  for (const text of [list, course]) expect(text).toContain('|Bergen, Room 7, 2nd floor|');
  expect(json['place']).toMatchObject({ title: 'Bergen', city: 'Bergen', additional_info: 'Room 7, 2nd floor' });
  expect(event.location).toBe('Bergen, Room 7, 2nd floor');
  expect(entry).toContain('Bergen, Room 7, 2nd floor');
  expect(data['location']).toMatchObject({ name: 'Bergen', description: 'Room 7, 2nd floor' });
});

test('the additional info of an online date is no address', async () => {
  const { me, courseId, read } = await createSchool();
  await addDate(me, courseId, { isVirtual: true, placeAdditionalInfo: 'The link comes by mail' });
  const { page, event, data } = await read();
  expect(page).toContain('|Online|The link comes by mail|');
  expect(event.location).toBe('Online, The link comes by mail');
  expect(data).toMatchObject({
    eventAttendanceMode: 'https://schema.org/OnlineEventAttendanceMode',
    location: { '@type': 'VirtualLocation' },
  });
});

test('an online location is no second place of a date', async () => {
  const { me, catalog, courseId, read } = await createSchool();
  const locationId = await addLocation(me, { title: 'Room X', customTitle: 'Wherever you are', isVirtual: true });
  await addDate(me, courseId, { locationId });
  await addDate(me, courseId, { startAt: '2031-01-01' });
  const { json, page, list, course, form, event, entry, data } = await read();
  for (const text of [page, list, course, form]) {
    expect(text).toContain('|Online|');
    expect(text).not.toMatch(/Wherever|Room X/);
  }
  expect(json['place']).toEqual({ title: null, address: null, city: null, additional_info: null, online: true });
  expect([event.location, data['location']]).toEqual([
    'Online',
    { '@type': 'VirtualLocation', url: expect.any(String) },
  ]);
  expect(entry).not.toContain('Wherever');
  expect((await catalog.get('?place=online')).text).not.toContain('Wherever');
});

test('a date at a location has its room too', async () => {
  const { me, courseId, read } = await createSchool();
  const locationId = await addLocation(me, { title: 'Brygga', address: 'Bryggen 1', city: 'Bergen' });
  await addDate(me, courseId, { locationId, placeAdditionalInfo: 'Room 7' });
  const { page, list, event, data } = await read();
  expect(page).toContain('|Brygga|Bryggen 1|Bergen|Room 7|');
  expect(list).toContain('|Brygga, Bergen, Room 7|');
  expect(event.location).toBe('Brygga, Bryggen 1, Bergen, Room 7');
  expect(data['location']).toMatchObject({ name: 'Brygga', description: 'Room 7' });
});

test('after its end a date is not booked, also on the day of its deadline', async () => {
  const { me, catalog, courseId, read } = await createSchool({ price_value: 100 });
  const today = { startAt: isoDay(0), timezone: 'Etc/UTC', zone: 'Etc/UTC', startTimeAt: '00:00:00' };
  const dateId = await addDate(me, courseId, { ...today, endTimeAt: '00:00:01' });
  const { json, page, list, course, form, data } = await read();
  for (const text of [page, list, course]) {
    expect(text).toContain('|The deadline for booking has passed|');
    expect(text).not.toContain('Places available');
  }
  expect([form, json['booking_url'], page.includes('|Book|')]).toEqual([undefined, null, false]);
  expect(data['offers']).toMatchObject({
    ...{ availability: 'https://schema.org/SoldOut', validThrough: `${isoDay(0)}T00:00:01+00:00` },
  });
  await changeDate(me, dateId, { endTimeAt: '23:59:59' });
  const open = await read();
  expect([open.json['booking_url'], open.page.includes('|Book|')]).toEqual([
    `${catalog.url}/dates/knots-${dateId}/book`,
    true,
  ]);
  expect(open.form).toContain('|Book: Knots|');
});

const cannotBeBooked = '|This cannot be booked here. Please contact the school.|';

test('a date whose products are archived is not booked, but on another site', async () => {
  const { me, courseId, read } = await createSchool({ price_value: 100 });
  const dateId = await addDate(me, courseId);
  const archived = { archivedAt: '2026-01-01' };
  await write(me, (tx) => tx.update(products).set(archived).where(eq(products.courseId, courseId)));
  const { json, page, list, course, form } = await read();
  for (const text of [page, list, course]) expect(text).toContain(cannotBeBooked);
  expect([form, json['booking_url'], json['price'], page.includes('|Book|')]).toEqual([undefined, null, null, false]);
  await changeDate(me, dateId, { externalBookingUrl: 'https://book.example/' });
  expect((await read()).json['booking_url']).toBe('https://book.example/');
});

test('a date whose only product is not the main one is booked with it, at its price', async () => {
  const { me, catalog, courseId, read } = await createSchool({ price_value: 100 });
  const dateId = await addDate(me, courseId);
  const [other] = await write(me, async (tx, now) => {
    await tx.update(products).set({ archivedAt: now }).where(eq(products.courseId, courseId));
    const product = { title: 'Members', price: '70', createdAt: now, updatedAt: now };
    const own = { providerId: me.id, courseId };
    await tx.insert(products).values({ ...product, ...own, currency: 'EUR' });
    return tx
      .insert(products)
      .values({ ...product, ...own })
      .returning({ id: products.id });
  });
  const { json, page, form } = await read();
  expect([json['price'], page.includes('|NOK 70.00|'), page.includes('|Book|')]).toEqual([
    ...[{ value: 70, currency: 'NOK', vat_percentage: 0 }, true, true],
  ]);
  expect(form).toContain('|Members × 1|NOK 70.00|');
  const path = `${catalog.base}/dates/knots-${dateId}/book`;
  const fields = { ...readFormFields(await catalog.anyone.get(path)), ...personFields(1), action: 'book' };
  expect((await catalog.anyone.post(path, fields)).status).toBe(303);
  const { rows } = await testApp.database.pool.query('select product_id from order_lines where provider_id = $1', [
    me.id,
  ]);
  expect(rows).toEqual([{ product_id: other!.id }]);
});

test.each([5, 0])('overbook places are booked as others, with %i on the waiting list', async (capacityWait) => {
  const { me, catalog, courseId, read } = await createSchool({ price_value: 100 });
  const full = { capacityMax: 1, numConfirmed: 1, capacityOverbook: 2, capacityWait };
  const dateId = await addDate(me, courseId, full);
  const { json, page, list, form, data } = await read();
  const path = `/dates/knots-${dateId}/book`;
  for (const text of [page, list, form]) expect(text).toContain('|2 places left|');
  expect([json['seats'], json['booking_url']]).toEqual([{ status: 'open', left: 2 }, `${catalog.url}${path}`]);
  expect(page).toContain('|Book|');
  expect(form).toMatch(/\|Book: Knots\|.*\|Book with obligation to pay\|/);
  expect(data['offers']).toMatchObject({ availability: 'https://schema.org/InStock' });
  const fields = { ...readFormFields(await catalog.get(path)), ...personFields(1), action: 'book' };
  const booked = await catalog.anyone.post(`${catalog.base}${path}`, fields);
  expect(readMain(await catalog.anyone.get(String(booked.headers['location'])))).toContain(
    'Kari1 Nordmann: Has a place|',
  );
  await changeDate(me, dateId, { numOverbooked: 2 });
  const after = await read();
  expect([after.json['seats'], after.form?.includes('|Join the waiting list: Knots|')]).toEqual(
    capacityWait > 0 ? [{ status: 'waiting_list', left: 0 }, true] : [{ status: 'fully_booked', left: 0 }, undefined],
  );
});

test('a form says "waiting list" once none of its participants gets a place', async () => {
  const { me, catalog, courseId } = await createSchool({ price_value: 100 });
  const dateId = await addDate(me, courseId, { capacityMax: 1, capacityWait: 5 });
  const path = `${catalog.base}/dates/knots-${dateId}/book`;
  const fields = { ...readFormFields(await catalog.anyone.get(path)), ...personFields(1), ...personFields(2) };
  const send = async () => readMain(await catalog.anyone.post(path, { ...fields, action: 'check' }));
  expect(await send()).toMatch(/\|Book: Knots\|.*\|Book with obligation to pay\|/);
  await changeDate(me, dateId, { numConfirmed: 1 });
  expect(await send()).toMatch(/\|Join the waiting list: Knots\|.*\|Join the waiting list[^|]*\|/);
});

test('a course without a price is not free of charge, and one of 0 is', async () => {
  const { me, courseId, read } = await createSchool();
  await addDate(me, courseId);
  const { json, page, list, form, entry, data } = await read();
  for (const text of [page, list, form, entry]) expect(text).not.toContain('Free of charge');
  expect([json['price'], data['offers'], page.includes('|Book|')]).toEqual([null, undefined, true]);
  const other = await createSchool({ price_comment: 'Ask us', price_value: 0 });
  await addDate(other.me, other.courseId);
  const free = await other.read();
  expect(free.page).toContain('|Price|Free of charge|Ask us|');
  expect([free.list.includes('|Free of charge|'), free.json['price']]).toMatchObject([true, { value: 0 }]);
  expect(free.page).toContain('|Book|');
});

test.each([5, 0])(
  'a course whose price is by agreement is not sold for 0, with %i on the waiting list',
  async (wait) => {
    const { me, catalog, courseId, read } = await createSchool({ price_comment: 'By agreement' });
    const dateId = await addDate(me, courseId, { capacityMax: 1, numConfirmed: wait > 0 ? 1 : 0, capacityWait: wait });
    const own = { providerId: me.id, courseId, currency: 'NOK', createdAt: '2026-01-01', updatedAt: '2026-01-01' };
    const addProduct = (title: string, price: string) =>
      write(me, (tx) =>
        tx
          .insert(products)
          .values({ ...own, title, price })
          .returning({ id: products.id }),
      );
    const [free] = await addProduct('Gift', '0');
    const { json, page, list, course, form, data } = await read();
    for (const text of [page, list, course]) expect(text).toContain(cannotBeBooked);
    expect(page).toContain('|Price|By agreement|');
    expect(page).not.toMatch(/\|Book\||0\.00|Join the waiting list/);
    expect([form, json['booking_url'], json['price'], data['offers']]).toEqual([undefined, null, null, undefined]);
    const path = `${catalog.base}/dates/knots-${dateId}/book`;
    const gift = { ...personFields(1), product_1: String(free!.id) };
    const sent = await catalog.anyone.post(path, { ...gift, action: 'book' });
    expect([sent.status, sent.headers['location']]).toEqual([303, path.replace(/\/book$/, '')]);
    const countBookings = async () =>
      (await testApp.database.pool.query('select from bookings where provider_id = $1', [me.id])).rowCount;
    expect(await countBookings()).toBe(0);

    await addProduct('Members', '70');
    await changeDate(me, dateId, { numConfirmed: 0 });
    const sold = await read();
    expect(sold.form).not.toContain('Gift');
    const shown = await catalog.anyone.post(path, { ...gift, action: 'check' });
    expect(readMain(shown)).toContain('|Members × 1|NOK 70.00|');
    expect(sold.page).toContain('|Price|NOK 70.00|By agreement|');
    expect(sold.form).toContain('|Members × 1|NOK 70.00|');
    await changeDate(me, dateId, { externalBookingUrl: 'https://book.example/' });
    expect((await read()).json['booking_url']).toBe('https://book.example/');
  },
);

test.each([
  [{ startTimeAt: '18:00' }, '2027-06-10T18:00:00+02:00', undefined],
  [{ startTimeAt: '18:00', endTimeAt: '20:00' }, '2027-06-10T18:00:00+02:00', '2027-06-10T20:00:00+02:00'],
  [{ startTimeAt: '18:00', endAt: '2027-06-12' }, '2027-06-10T18:00:00+02:00', '2027-06-12'],
  [{ endTimeAt: '20:00' }, '2027-06-10', '2027-06-10T20:00:00+02:00'],
  [{}, '2027-06-10', '2027-06-10'],
])('structured data of %j have no end before the start', async (times, startDate, endDate) => {
  const { me, courseId, read } = await createSchool();
  await addDate(me, courseId, { startAt: '2027-06-10', ...times });
  const { data } = await read();
  expect([data['startDate'], data['endDate']]).toEqual([startDate, endDate]);
});
