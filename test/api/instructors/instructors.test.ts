import { expect, test } from 'vitest';
import { addAdminUser, addInstructor, addLocation } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const { createProvider } = await openTestAppForFile();

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string;

test('an instructor is created with all fields; read-only fields are ignored', async () => {
  const me = await createProvider();
  const idUser = await addAdminUser(me);
  const sent = {
    firstname: ' Kari ',
    lastname: 'Nordmann',
    phone_prefix: '+47',
    phone: '99 88 77 66',
    email: 'kari@school.example',
    position: 'Head',
    company: 'Fjord',
    description: 'Teaches',
    show_on_web: 'yes',
    idUser: String(idUser),
  };
  const response = await me.post('/v2/instructors', {
    ...sent,
    id: 999_999_999,
    created_at: '2001-01-01',
    archived_at: '2001-01-01',
  });
  expect(response.status).toBe(201);
  const stamps = { archived_at: null, created_at: timestamp, updated_at: timestamp };
  const whole = { ...sent, firstname: 'Kari', show_on_web: true, idUser, ...stamps };
  expect(response.json()).toEqual({ ...whole, id: expect.any(Number) as number });
  expect(response.json().id).not.toBe(999_999_999);
  expect(response.json().created_at).not.toMatch(/^2001/);
  expect((await me.get('/v2/instructors')).json()).toEqual([response.json()]);
});

test('only the names are required; missing fields are named', async () => {
  const me = await createProvider();
  const created = (await me.post('/v2/instructors', { firstname: 'A', lastname: 'B' })).json();
  expect(created).toEqual({
    id: created.id,
    firstname: 'A',
    lastname: 'B',
    phone_prefix: '',
    phone: '',
    email: '',
    position: '',
    company: '',
    description: '',
    show_on_web: false,
    idUser: null,
    archived_at: null,
    created_at: timestamp,
    updated_at: timestamp,
  });
  const refused = await me.post('/v2/instructors', { firstname: ' ', email: 'none', show_on_web: 'maybe' });
  expect([refused.status, refused.json().error]).toEqual([
    400,
    'Missing field(s): firstname,lastname. Field(s) not valid: email,show_on_web',
  ]);
});

test('an update changes only sent fields and clears empty ones', async () => {
  const me = await createProvider();
  const idUser = await addAdminUser(me);
  const whole = { firstname: 'A', lastname: 'B', phone: '1', email: 'a@b.example', show_on_web: 1, idUser };
  const before = (await me.post('/v2/instructors', whole)).json();
  const put = async (fields: object) => me.put(`/v2/instructors/${before.id}`, fields);

  expect((await put({ lastname: 'C' })).json()).toEqual({ ...before, lastname: 'C', updated_at: timestamp });
  expect((await put({ phone: '', email: null, show_on_web: '' })).json()).toMatchObject({
    phone: '',
    email: '',
    show_on_web: true,
    idUser,
  });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const disconnected = await me.put(`/v2/instructors/${before.id}`, 'idUser=', form);
  expect([disconnected.status, disconnected.json().idUser]).toEqual([200, null]);
  const nameless = await put({ firstname: '', lastname: ' ' });
  expect([nameless.status, nameless.json().error]).toEqual([400, 'Missing field(s): firstname,lastname']);
  const both = await put({ firstname: '', email: 'none' });
  expect([both.status, both.json().error]).toEqual([400, 'Missing field(s): firstname. Field(s) not valid: email']);
  expect((await put({})).json()).toMatchObject({ firstname: 'A', lastname: 'C', idUser: null });
});

test("idUser must be one of the provider's own admin users", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const theirs = await addAdminUser(other);
  const { id } = (await me.post('/v2/instructors', { firstname: 'A', lastname: 'B' })).json();
  for (const idUser of [theirs, 999_999_999]) {
    for (const response of [
      await me.post('/v2/instructors', { firstname: 'A', lastname: 'B', idUser }),
      await me.put(`/v2/instructors/${id}`, { firstname: 'Changed', idUser }),
    ]) {
      expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: idUser' }]);
    }
  }
  expect((await me.get('/v2/instructors')).json()).toMatchObject([{ firstname: 'A', idUser: null }]);
});

test('GET /v2/instructors/:id returns the same item as the list, archived or not', async () => {
  const me = await createProvider();
  const ids = [await addInstructor(me), await addInstructor(me, { archivedAt: '2026-01-02 03:04:05.6+01' })];
  const listed = (await me.get('/v2/instructors')).json();
  for (const [n, id] of ids.entries()) {
    const response = await me.get(`/v2/instructors/${id}`);
    expect([response.status, response.json()]).toEqual([200, listed[n]]);
  }
});

test('DELETE archives an instructor, who stays listed; a second call changes nothing', async () => {
  const me = await createProvider();
  const id = await addInstructor(me);
  const beside = await addInstructor(me);
  await addLocation(me, { instructorId: id });
  const before = (await me.get(`/v2/instructors/${id}`)).json();
  const moved = async () =>
    (
      await write(me, (tx) =>
        tx.execute(`select updated_at::text, archived_at::text from instructors where id = ${id}`),
      )
    ).rows[0]!;
  const [response, once] = [await me.request('DELETE')(`/v2/instructors/${id}`), await moved()];
  expect([response.status, response.json()]).toEqual([
    200,
    { ...before, archived_at: timestamp, updated_at: timestamp },
  ]);
  expect(once['updated_at']).toBe(once['archived_at']);
  expect((await me.get('/v2/locations')).json()).toMatchObject([
    { idInstructor: id, instructor: { is_archived: true } },
  ]);

  const again = await me.request('DELETE')(`/v2/instructors/${id}`);
  expect([again.status, again.json(), await moved()]).toEqual([200, response.json(), once]);
  expect((await me.get('/v2/instructors')).json()).toMatchObject([
    { id, archived_at: timestamp },
    { id: beside, archived_at: null },
  ]);
  const changed = { ...response.json(), phone: '1', updated_at: timestamp };
  expect((await me.put(`/v2/instructors/${id}`, { phone: '1' })).json()).toEqual(changed);
});

test("lists the provider's own instructors with archived ones, paged", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [a, b] = [await addInstructor(me), await addInstructor(me, { archivedAt: '2026-01-02 03:04:05.6+01' })];
  await addInstructor(other);
  const ids = async (query: string) =>
    (await me.get(`/v2/instructors${query}`)).json<{ id: number }[]>().map(({ id }) => id);
  const list = await me.get('/v2/instructors');
  expect(list.json()[1].archived_at).toBe('2026-01-02 03:04:05');
  expect(await ids('')).toEqual([a, b]);
  expect(await ids('?limit=1')).toEqual([a]);
  expect(await ids('?limit=1&page=2')).toEqual([b]);
  expect(await ids(`?since_id=${a}`)).toEqual([b]);
  expect((await me.get('/v2/instructors', { 'if-none-match': String(list.headers['etag']) })).status).toBe(304);
});
