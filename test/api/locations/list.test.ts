import { expect, test } from 'vitest';
import { addInstructor, addLocation, findMunicipality } from '../../support/dates.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

test('a location shows all its fields', async () => {
  const me = await createProvider();
  const { id: placeId, parentId } = await findMunicipality(me, 'Bergen');
  const instructorId = await addInstructor(me, { phonePrefix: '+47', phone: '1', email: 'k@x.example', position: 'P' });
  const texts = { title: 'Hall', customTitle: 'The hall', address: 'Strandgaten 1', address2: 'B', address3: 'C' };
  const id = await addLocation(me, {
    ...{ ...texts, zipcode: '5004', city: 'Bergen', state: 'S', county: 'Vestland', placeId, instructorId },
    ...{ lat: 60.39, lng: 5.32, timezone: 'Europe/Oslo', longText: 'Long', shortText: 'Short', shortText2: 'Two' },
    ...{ emailBooking: 'b@x.example', emailMoreinfo: 'm@x.example', cancellationDays: 1, capacityBudget: 2 },
    ...{ capacityMax: 3, capacityMin: 4, capacityOverbook: 5, capacityWait: 6, notificationDays: 7 },
    ...{ isArchived: true, isDefault: true, isNotificationEnabled: true, isVirtual: true },
  });
  const response = await me.get('/v2/locations');
  // Without others: the tests of POST compare the whole item.
  expect(response.json()).toMatchObject([
    {
      id,
      title: 'Hall',
      custom_title: 'The hall',
      address: 'Strandgaten 1',
      address2: 'B',
      address3: 'C',
      zipcode: '5004',
      city: 'Bergen',
      state: 'S',
      county: 'Vestland',
      country: 'Norway',
      country_code: 'NO',
      idCountry: '578',
      idPlace: placeId,
      place: {
        id: String(placeId),
        idParent: String(parentId),
        title: 'Bergen',
        parent: { id: String(parentId), idParent: '0', title: 'Vestland' },
        idCountry: '578',
        country: 'Norway',
      },
      lat: 60.39,
      lng: 5.32,
      timezone: 'Europe/Oslo',
      long_text: 'Long',
      short_text: 'Short',
      short_text_2: 'Two',
      idInstructor: instructorId,
      instructor: {
        id: instructorId,
        title: 'Kari Nordmann',
        name: 'Kari Nordmann',
        fullname: 'Kari Nordmann',
        phone: '+47 1',
        company: '',
        position: 'P',
        email: 'k@x.example',
        is_archived: false,
      },
      full_address: 'Strandgaten 1, 5004 Bergen, Norway',
      email_booking: 'b@x.example',
      email_moreinfo: 'm@x.example',
      cancellation_days: 1,
      capacity_budget: 2,
      capacity_max: 3,
      capacity_min: 4,
      capacity_overbook: 5,
      capacity_wait: 6,
      is_archived: true,
      is_default: true,
      is_notification_enabled: true,
      is_virtual: true,
      notification_days: 7,
      notification_role: null,
    },
  ]);
  const norsk = await me.get('/v2/locations', { 'accept-language': 'nb' });
  expect(norsk.json()[0]).toMatchObject({ country: 'Norge', full_address: 'Strandgaten 1, 5004 Bergen, Norge' });
});

test('unset fields are null, zero or false', async () => {
  const me = await createProvider();
  await addLocation(me);
  expect((await me.get('/v2/locations')).json()[0]).toMatchObject({
    title: null,
    idPlace: 0,
    place: null,
    idInstructor: null,
    instructor: null,
    full_address: null,
    state: '',
    lat: 0,
    capacity_max: 0,
    is_archived: false,
  });
});

test('the list is paged, filtered by id and timestamps, and contains only own locations', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const a = await addLocation(me, { createdAt: '2026-03-01 00:00:00+01' });
  const b = await addLocation(me, { createdAt: '2026-03-02 00:00:00+01', updatedAt: '2026-04-01 00:00:00+02' });
  await addLocation(other);
  const ids = async (query: string) =>
    (await me.get(`/v2/locations?${query}`)).json<{ id: number }[]>().map(({ id }) => id);
  expect(await ids('')).toEqual([a, b]);
  expect(await ids('limit=1')).toEqual([a]);
  expect(await ids('limit=1&page=2')).toEqual([b]);
  expect(await ids(`since_id=${a}`)).toEqual([b]);
  expect(await ids('created_at_min=2026-03-02')).toEqual([b]);
  expect(await ids('created_at_max=2026-03-02')).toEqual([a]);
  expect(await ids('updated_at_max=2026-05-01')).toEqual([b]);
  expect(await ids('updated_at_min=2026-04-02')).toEqual([a]);
  expect((await me.get('/v2/locations?limit=1')).headers['link']).toContain(`since_id=${a}`);
});

test('the number of statements per page is constant', async () => {
  const me = await createProvider();
  const { id: placeId } = await findMunicipality(me, 'Bergen');
  const add = async () => addLocation(me, { placeId, instructorId: await addInstructor(me) });
  const statements = async () => (await recordStatements(() => me.get('/v2/locations'))).length;
  await me.get('/v2/locations'); // The first use of a key is noted.
  await add();
  const one = await statements();
  for (let n = 0; n < 3; n += 1) await add();
  // Key look-up; rows of the page; places and instructors of all its locations.
  expect([one, await statements()]).toEqual([4, 4]);
});
