import { expect, test } from 'vitest';
import { LocationBody, LocationChange } from '../../../src/domains/courses/locations/fields.ts';
import { addDate, addInstructor, findMunicipality } from '../../support/dates.ts';
import {
  dialects,
  encodeBody,
  fullLocation as plain,
  contentTypeHeader,
  type Fields,
} from '../../support/request-bodies.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const listed = async (me: Provider) => (await me.get('/v2/locations')).json<Fields[]>();
const create = async (me: Provider, fields: object) =>
  (await me.post('/v2/locations', fields)).json<Fields & { id: number }>();
async function everything(me: Provider) {
  const [{ id: place_id }, idInstructor] = [await findMunicipality(me, 'Bergen'), await addInstructor(me)];
  return { ...plain, country: 'se', place_id, idInstructor };
}
const { is_default, is_archived, is_virtual, is_notification_enabled } = plain;
const flags = { is_default, is_archived, is_virtual, is_notification_enabled };
const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+\d\d:00$/) as string;
const bare = {
  id: expect.any(Number) as number,
  title: 'Bare',
  custom_title: null,
  address: null,
  address2: null,
  address3: null,
  zipcode: null,
  city: null,
  state: '',
  county: '',
  country: 'Norway',
  country_code: 'NO',
  idCountry: '578',
  idPlace: 0,
  place: null,
  lat: 0,
  lng: 0,
  timezone: null,
  long_text: null,
  short_text: null,
  short_text_2: null,
  idInstructor: null,
  instructor: null,
  full_address: null,
  email_booking: null,
  email_moreinfo: null,
  cancellation_days: 0,
  capacity_budget: 0,
  capacity_max: 0,
  capacity_min: 0,
  capacity_overbook: 0,
  capacity_wait: 0,
  is_archived: false,
  is_default: false,
  is_notification_enabled: false,
  is_virtual: false,
  notification_days: 0,
  notification_role: null,
  updated_at: moment,
};

test('only a title is required; all other fields have defaults', async () => {
  const me = await createProvider();
  const response = await me.post('/v2/locations', { title: ' Bare ' });
  expect([response.status, response.json()]).toEqual([201, bare]);
  expect(await listed(me)).toEqual([response.json()]);
  const empty = Object.fromEntries(Object.keys(LocationBody.properties).map((name) => [name, '']));
  expect(await create(me, { ...empty, title: 'Bare' })).toEqual(bare);
});

test.each(dialects)('every field is stored and returned: %s', async (dialect) => {
  const me = await createProvider();
  const fields = await everything(me);
  const response = await me.post(
    '/v2/locations',
    encodeBody(dialect, { ...fields, id: 999_999_999 }),
    contentTypeHeader(dialect),
  );
  expect(response.status, response.text).toBe(201);
  expect(response.json()).toEqual({
    ...{ ...plain, id: expect.any(Number) as number, notification_role: null, updated_at: moment },
    ...{ country: 'Sweden', country_code: 'SE', idCountry: '752', full_address: 'Strandgaten 1, 5004 Bergen, Sweden' },
    ...{
      idPlace: fields.place_id,
      place: expect.objectContaining({ id: String(fields.place_id), title: 'Bergen' }) as object,
    },
    ...{ idInstructor: fields.idInstructor, instructor: expect.objectContaining({ name: 'Kari Nordmann' }) as object },
  });
  expect(response.json().id).not.toBe(999_999_999);
  expect(await listed(me)).toEqual([response.json()]);
});

test('PUT accepts every field of POST, all optional', () => {
  expect(Object.keys(LocationChange.properties)).toEqual(Object.keys(LocationBody.properties));
  expect(LocationChange.required ?? []).toEqual([]);
});

test.each(dialects)('all sent fields change and empty ones are cleared: %s', async (dialect) => {
  const me = await createProvider();
  const { id } = await create(me, { title: 'Bare' });
  const put = (fields: Fields) =>
    me.put(`/v2/locations/${id}`, encodeBody(dialect, fields), contentTypeHeader(dialect));
  const fields = await everything(me);
  const whole = await create(me, fields);
  const changed = await put(fields);
  expect([changed.status, changed.json()]).toEqual([200, { ...whole, id, updated_at: moment }]);
  expect((await listed(me))[0]).toEqual(changed.json());

  const empty = Object.fromEntries(Object.keys(fields).map((name) => [name, '']));
  const { json } = await put({ ...empty, title: 'Bare' });
  expect(json()).toEqual({ ...bare, id, ...flags });
  expect((await put({ is_default: 0, is_archived: 'no', is_virtual: 'off' })).json()).toEqual({
    ...{ ...bare, id, is_notification_enabled: true },
  });
});

test.each([...Object.entries(plain), ['country', 'SE'], ['place_id', 0], ['idInstructor', 0]] as [string, unknown][])(
  'updating only %s changes nothing else',
  async (name, value) => {
    const me = await createProvider();
    const before = await create(me, { title: 'Kept', address: 'Street 1', capacity_max: 9 });
    const fields = await everything(me);
    const named = { place_id: fields.place_id, idInstructor: fields.idInstructor }[name] ?? value;
    const after = (await me.put(`/v2/locations/${before.id}`, { [name]: named })).json<Fields>();
    const shown: Record<string, string[]> = {
      country: ['country', 'country_code', 'full_address', 'idCountry'],
      place_id: ['idPlace', 'place'],
      idInstructor: ['idInstructor', 'instructor'],
    };
    const address = ['address', 'zipcode', 'city'].includes(name) ? ['full_address'] : [];
    const moved = Object.keys(after).filter(
      (member) => member !== 'updated_at' && JSON.stringify(after[member]) !== JSON.stringify(before[member]),
    );
    expect(moved.sort()).toEqual((shown[name] ?? [name, ...address]).sort());
  },
);

test('a country must be a known one, case-insensitive', async () => {
  const me = await createProvider();
  for (const country of ['dk', 'DK', 'Dk'])
    expect(await create(me, { title: 'A', country })).toMatchObject({ country: 'Denmark' });
  for (const country of ['XX', 'NOR', 'N', 'Norway', '47']) {
    const response = await me.post('/v2/locations', { title: 'A', country });
    expect([response.status, response.json()], country).toEqual([400, { error: 'Field(s) not valid: country' }]);
  }
});

test.each(['Europe/Oslo', 'America/Argentina/Buenos_Aires', 'Asia/Kathmandu', 'UTC', 'Etc/GMT+5'])(
  '%s is a time zone',
  async (timezone) => {
    expect(await create(await createProvider(), { title: 'A', timezone })).toMatchObject({ timezone });
  },
);

test.each([
  'Europe/Olso',
  'europe/oslo',
  'CEST',
  '+02:00',
  'GMT+2',
  'foo-3',
  'localtime',
  'posix/Europe/Oslo',
  "'",
  '%',
  'x'.repeat(255),
])('%s is not a time zone', async (timezone) => {
  const me = await createProvider();
  const { id } = await create(me, { title: 'A' });
  for (const response of [
    await me.post('/v2/locations', { title: 'B', timezone }),
    await me.put(`/v2/locations/${id}`, { title: 'B', timezone }),
  ]) {
    expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: timezone' }]);
  }
  expect(await listed(me)).toMatchObject([{ title: 'A', timezone: null }]);
});

test.each<[object, string]>([
  [{ title: '' }, 'Missing field(s): title'],
  [{ title: ' ', country: 'XX' }, 'Missing field(s): title. Field(s) not valid: country'],
  [{ lat: 90.1, lng: -180.5 }, 'Field(s) not valid: lat,lng'],
  [{ lat: 'north' }, 'Field(s) not valid: lat'],
  [{ capacity_max: -1, capacity_wait: 1.5 }, 'Field(s) not valid: capacity_max,capacity_wait'],
  [{ cancellation_days: 2 ** 31 }, 'Field(s) not valid: cancellation_days'],
  [{ email_booking: 'x', email_moreinfo: 'y' }, 'Field(s) not valid: email_booking,email_moreinfo'],
  [{ is_archived: 'maybe' }, 'Field(s) not valid: is_archived'],
  [{ address: 'x'.repeat(256), long_text: 'x'.repeat(5_001) }, 'Field(s) not valid: address,long_text'],
  [{ place_id: 0 }, 'Field(s) not valid: place_id'],
  [
    { place_id: 999_999_999, timezone: 'Nowhere', idInstructor: 999_999_999 },
    'Field(s) not valid: place_id,timezone,idInstructor',
  ],
])('%j is rejected and changes nothing: %s', async (fields, error) => {
  const me = await createProvider();
  const created = await create(me, { title: 'Kept' });
  for (const response of [
    await me.post('/v2/locations', { title: 'B', ...fields }),
    await me.put(`/v2/locations/${created.id}`, { custom_title: 'kept out', ...fields }),
  ]) {
    expect([response.status, response.json()]).toEqual([400, { error }]);
  }
  expect(await listed(me)).toEqual([created]);
});

test("an instructor must be one of the school's own, archived or not", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await addInstructor(me, { archivedAt: '2026-01-01 00:00+01' }), await addInstructor(other)];
  const response = await me.post('/v2/locations', { title: 'A', idInstructor: theirs });
  expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: idInstructor' }]);
  const { id } = await create(me, { title: 'A', idInstructor: mine });
  const refused = await me.put(`/v2/locations/${id}`, { idInstructor: theirs });
  expect([refused.status, refused.json()]).toEqual([400, { error: 'Field(s) not valid: idInstructor' }]);
  expect(await listed(me)).toMatchObject([{ id, idInstructor: mine, instructor: { is_archived: true } }]);
});

test('an update changes updated_at of the location but not its existing dates', async () => {
  const me = await createProvider();
  const { id } = await create(me, { title: 'A', capacity_max: 5 });
  await addDate(me, await me.course(), { locationId: id, capacityMax: 5 });
  const readTimestamps = async () =>
    (
      await write(me, (tx) =>
        tx.execute(
          `select l.updated_at::text as location, d.updated_at::text as date, d.capacity_max as seats
           from locations l join course_dates d on d.location_id = l.id where l.id = ${id}`,
        ),
      )
    ).rows[0]! as { location: string; date: string; seats: number };
  const before = await readTimestamps();
  await me.put(`/v2/locations/${id}`, { capacity_max: 9 });
  const after = await readTimestamps();
  expect([after.location > before.location, after.date, after.seats]).toEqual([true, before.date, 5]);
});
