import { describe, expect, test } from 'vitest';
import { acts, lenientPosts } from '../../support/acts.ts';
import { bookingBody, bookOrFail, createBookableDate, persons } from '../../support/booking.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { getEndpoints } from '../../support/isolation.ts';
import { createOrder } from '../../support/orders.ts';
import { hashRows } from '../../support/request-bodies.ts';
import { sharedTestApp, type TestResponse } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

const withoutFields = ['link', 'resend', 'test', 'rotate', 'export'].map((end) =>
  acts.find(({ route }) => route.endsWith(`/${end}`))!,
);
const statusAndCode = ({ status, headers }: TestResponse) => [status, headers['x-error-code']];
const unknown = [400, 'field_unknown'];

describe('an act that cannot be undone refuses unknown names', () => {
  test('each POST of both interfaces is an act, or ignores them for a reason; of other writes two are acts', async () => {
    const me = await createProvider();
    const refusing: string[] = [];
    const ignoring: string[] = [];
    const endpoints = getEndpoints(testApp);
    for (const { name, method, path } of endpoints) {
      if (method === 'GET') continue;
      const response = await me.request(method)(path.replaceAll(/\{\w+\}/g, '999999999'), { nam: 1 });
      if (response.text.includes('Field(s) not known: nam')) refusing.push(name);
      else if (method === 'POST') {
        expect(response.headers['x-ignored-parameters'], name).toBe('nam');
        ignoring.push(name);
      }
    }
    expect(refusing.sort(), 'acts of test/support/acts.ts has each of them').toEqual(
      acts.map(({ route }) => route).sort(),
    );
    const isCreate = (post: string) => endpoints.some(({ name }) => name === post.replace('POST', 'GET'));
    const others = ignoring.filter((name) => !isCreate(name)).sort();
    expect(others, 'lenientPosts of test/support/acts.ts has each that adds no item to a list').toEqual(
      Object.keys(lenientPosts).sort(),
    );
  });

  test.each(acts)('$route: in the query too, and tells the ten first', async ({ route, prepare }) => {
    const me = await createProvider();
    const { path, body } = await prepare(me);
    const send = me.request(route.split(' ')[0]);
    const before = await hashRows(me);
    const names = Array.from({ length: 12 }, (_, n) => `p${n}`);
    const [query, fields] = [`?${names.map((name) => `${name}=1`).join('&')}`, { ...body, nam: 1 }];
    const response = await send(path + query, fields);
    expect(statusAndCode(response)).toEqual(unknown);
    expect(response.text).toContain(`Field(s) not known: ${names.slice(0, 10).join(',')}"`);
    expect(response.headers).not.toHaveProperty('preference-applied');
    const details = await send(path, fields, { accept: 'application/problem+json' });
    const errors = [{ code: 'field_unknown', message: 'Field(s) not known: nam' }];
    expect(details.json()).toMatchObject({ errors, fields: [{ field: 'nam', code: 'unknown' }] });
    expect(await hashRows(me)).toBe(before);
    const readOnly = { id: 7, created_at: 'x', updated_at: 'x', deleted_at: 'x' };
    const sentBack = await send(path, { ...body, ...readOnly });
    expect(statusAndCode(sentBack)).toEqual(unknown);
    expect(sentBack.text).toContain('Field(s) not known: id,created_at,updated_at,deleted_at"');
    expect(await hashRows(me)).toBe(before);
    expect((await send(path, body)).status).toBeLessThan(300);
  });

  test.each(withoutFields)('$route takes no body that is no object', async ({ prepare }) => {
    const me = await createProvider();
    const { path } = await prepare(me);
    const before = await hashRows(me);
    const json = contentTypeHeader('json');
    for (const body of ['[]', '[{"nam":1}]', '"x"', '5', 'true'])
      expect(statusAndCode(await me.post(path, body, json)), body).toEqual([400, 'field_invalid']);
    expect(await hashRows(me)).toBe(before);
    for (const body of ['', '{}']) expect((await me.post(path, body, json)).status, body).not.toBe(500);
    expect(await hashRows(me)).not.toBe(before);
  });
});

describe('a write without dry_run refuses it', () => {
  const taking = ['batch/booking', 'course-users/{id}/erase', 'course-users/{id}/merge']
    .concat(['courses/{course_id}/coursedates/{id}/cancel', 'customers/{id}/merge', 'orders/{id}/credit'])
    .concat(['orders/{id}/export', 'participants/{id}/move'])
    .map((path) => `POST /v2/${path}`);

  test.each(['query', ...dialects] as const)('each of v2: %s', async (dialect) => {
    const me = await createProvider();
    const found: string[] = [];
    for (const { name, method, path } of getEndpoints(testApp)) {
      const sent = path.replaceAll(/\{\w+\}/g, '999999999');
      const send = me.request(method);
      const response = await (dialect === 'query'
        ? send(`${sent}?dry_run=1`)
        : send(sent, encodeBody(dialect, { dry_run: true }), contentTypeHeader(dialect)));
      const isRefused = /Field\(s\) not known: dry_run|"not_valid":\[.*"dry_run"/.test(response.text);
      if (method === 'GET' || !path.startsWith('/v2/')) expect(isRefused, name).toBe(false);
      else if (!isRefused) found.push(name);
      else expect(statusAndCode(response), name).toEqual(unknown);
    }
    expect(found.sort()).toEqual(taking);
  });

  test('a booking, a reversed payment, a deregistration and other writes are not made', async () => {
    const me = await createProvider();
    const { dateId } = await createBookableDate(me);
    const { order_id, booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
    const paid = await me.post(`/v2/orders/${order_id}/payments`, { amount: 100 });
    const payment = `/v2/orders/${order_id}/payments/${paid.json<{ id: number }>().id}`;
    const remove = me.request('DELETE');
    const deregister = { participants: [participants[0]!.id] };
    const before = await hashRows(me);
    for (const response of [
      await me.post('/v2/booking', bookingBody(dateId, { dry_run: true })),
      await me.post('/v2/booking?dry_run=yes', bookingBody(dateId)),
      await me.post('/v2/booking', bookingBody(dateId, { dry_run: 'perhaps' })),
      await remove(`${payment}?dry_run=1`),
      await remove(payment, { dry_run: true }),
      await me.put(`/v2/booking/${booking_id}/deregister`, { ...deregister, dry_run: true }),
      await me.put(`/v2/booking/${booking_id}/deregister`, { ...deregister, config: { dry_run: true } }),
      await me.put(`/v2/orders/${order_id}`, { is_paid: true, dry_run: true }),
      await me.post('/v2/instructors', { firstname: 'Kari', lastname: 'Nordmann', dry_run: 1 }),
    ])
      expect(statusAndCode(response), response.text).toEqual(unknown);
    expect(await hashRows(me)).toBe(before);
    expect((await remove(`${payment}?dry_run=0`)).status).toBeLessThan(300);
  });

  test.each(dialects)('a value that is empty or false is ignored: %s', async (dialect) => {
    const me = await createProvider();
    const post = (path: string, fields: object) =>
      me.post(path, encodeBody(dialect, { ...fields }), contentTypeHeader(dialect));
    const { dateId } = await createBookableDate(me);
    for (const dry_run of [false, 0, '', 'No', 'off']) {
      const response = await post('/v2/booking', bookingBody(dateId, { dry_run, config: { dry_run } }));
      expect([response.status, response.headers['x-ignored-parameters']]).toEqual([201, 'dry_run, config.dry_run']);
    }
    const created = await post('/v2/instructors?dry_run=', { firstname: 'Kari', lastname: 'Nordmann' });
    expect([created.status, created.headers['x-ignored-parameters']]).toEqual([201, 'dry_run']);
  });
});

describe('deregistration', () => {
  const booked = async () => {
    const me = await createProvider();
    const { dateId } = await createBookableDate(me);
    const { booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
    return { me, path: `/v2/booking/${booking_id}/deregister`, ids: participants.map(({ id }) => id) };
  };
  const statuses = (response: TestResponse) =>
    response.json<{ participants: { status: { id: number } }[] }>().participants.map(({ status }) => status.id);

  test.each(dialects)('without participants every unknown name is refused, except in config: %s', async (dialect) => {
    const { me, path, ids } = await booked();
    const put = (fields: object, query = '') =>
      me.put(path + query, encodeBody(dialect, { ...fields }), contentTypeHeader(dialect));
    const before = await hashRows(me);
    const misread = [{ participant_ids: ids }, { id: ids[0] }, { participants: '', participant: ids[0] }];
    for (const fields of [...misread, { confg: { a: 1 } }]) expect(statusAndCode(await put(fields))).toEqual(unknown);
    expect(statusAndCode(await put({}, `?participants[]=${ids[0]}`))).toEqual(unknown);
    expect(await hashRows(me)).toBe(before);

    const done = await put({ config: { with_fe: 1 } });
    expect([statuses(done), done.headers['x-ignored-parameters']]).toEqual([[4, 4], 'config.with_fe']);
  });

  test.each(dialects)('with participants unknown names are ignored, as before: %s', async (dialect) => {
    const { me, path, ids } = await booked();
    const body = encodeBody(dialect, { participants: [ids[1]], reason: 'ill', id: 7, updated_at: 'x' });
    const done = await me.put(`${path}?x=1`, body, contentTypeHeader(dialect));
    expect([statuses(done), done.headers['x-ignored-parameters']]).toEqual([[1, 4], 'x, reason']);
  });
});

describe('a dry run of an export', () => {
  test.each(dialects)('shows the order as it would be, and changes nothing: %s', async (dialect) => {
    const me = await createProvider();
    const { orderId } = await createOrder(me, { courseId: await me.course() });
    const path = `/v2/orders/${orderId}/export`;
    const post = (fields: Record<string, unknown>, query = '') =>
      me.post(path + query, encodeBody(dialect, fields), contentTypeHeader(dialect));
    const before = await hashRows(me);
    for (const response of [await post({ dry_run: true }), await post({}, '?dry_run=1')]) {
      expect(response.json()).toMatchObject({ id: orderId, exported_at: expect.any(String) as string });
      expect(response.headers).not.toHaveProperty('x-ignored-parameters');
    }
    expect(statusAndCode(await post({ dry_run: '' }))).toEqual([400, 'field_invalid']);
    expect(await hashRows(me)).toBe(before);

    const [preview, exported] = [(await post({ dry_run: true })).json<object>(), await post({ dry_run: false })];
    const volatile = { exported_at: 0, updated_at: 0, lines: 0 };
    expect({ ...exported.json<object>(), ...volatile }).toEqual({ ...preview, ...volatile });
    const again = await post({ dry_run: true });
    expect(again.json()).toEqual(exported.json());
  });
});
