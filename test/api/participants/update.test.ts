import { expect, test } from 'vitest';
import {
  createBookableDate,
  bookOrFail,
  seatCounters,
  deregister,
  person,
  persons,
  statusesOnDate,
} from '../../support/booking.ts';
import { changeDate } from '../../support/dates.ts';
import { encodeBody, contentTypeHeader } from '../../support/request-bodies.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const update = (me: Provider, id: number, fields: object) => me.put(`/v2/participants/${id}`, fields);
const oneOf = async (me: Provider, id: number) =>
  (await me.get(`/v2/participants?since_id=${id - 1}&limit=1`)).json<Item[]>()[0]!;

async function stage(date: Parameters<typeof createBookableDate>[1] = {}, count = 1) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, date);
  const { participants, booking_id } = await bookOrFail(me, dateId, { participants: persons(count) });
  return { me, dateId, booking_id, ids: participants.map(({ id }) => id) };
}

test('sent fields change and are returned; others stay', async () => {
  const { me, ids } = await stage();
  const [id] = ids as [number];
  const before = await oneOf(me, id);
  const response = await update(me, id, {
    idPaid: 1,
    completed: 1,
    passed: 'yes',
    no_show: true,
    custom_properties: { a: '1', b: '2' },
  });
  const changed = { idPaid: 1, paid: { id: 1, title: 'Yes' }, completed: true, passed: true, no_show: true };
  const { updated_at } = response.json<Item>();
  expect([response.status, response.json()]).toEqual([
    200,
    { ...before, ...changed, custom_properties: { a: '1', b: '2' }, updated_at },
  ]);
  expect(await oneOf(me, id)).toEqual(response.json());

  expect((await update(me, id, { passed: 0, completed: '' })).json()).toMatchObject({
    passed: false,
    completed: true,
    no_show: true,
    idPaid: 1,
  });
});

test('custom properties are merged; empty ones are removed; an empty object is ignored', async () => {
  const { me, ids } = await stage();
  const put = async (custom_properties: unknown) =>
    (await update(me, ids[0]!, { custom_properties })).json<Item>()['custom_properties'];
  expect(await put({ a: '1', b: '2' })).toEqual({ a: '1', b: '2' });
  expect(await put({ b: '', c: '3' })).toEqual({ a: '1', c: '3' });
  for (const nothing of [{}, [], '{}', '[]']) expect(await put(nothing)).toEqual({ a: '1', c: '3' });
  expect(await put({ a: null, c: null })).toBe(null);
  expect(await put({ d: '4' })).toEqual({ d: '4' });
  expect(await put('')).toBe(null);
});

test('works in every body format', async () => {
  const { me, ids } = await stage({}, 3);
  const read = [];
  for (const [n, dialect] of (['form', 'multipart', 'json'] as const).entries()) {
    const fields = { idPaid: 1, idStatus: 7, no_show: true, custom_properties: { a: 'æ' } };
    const response = await me.put(
      `/v2/participants/${ids[n]}`,
      encodeBody(dialect, fields),
      contentTypeHeader(dialect),
    );
    const { status, idPaid, no_show, custom_properties } = response.json();
    read.push([status.id, idPaid, no_show, custom_properties]);
  }
  expect(read).toEqual(Array(3).fill([7, 1, true, { a: 'æ' }]));
});

test('an update without changes keeps updated_at', async () => {
  const { me, ids } = await stage();
  const before = await oneOf(me, ids[0]!);
  const readTimestamps = async () =>
    (await write(me, (tx) => tx.execute(`select updated_at::text from participants where provider_id = ${me.id}`)))
      .rows;
  const timestamps = await readTimestamps();
  for (const fields of [
    {},
    { idStatus: 1, idPaid: 3, completed: 0, unknown: 1 },
    { custom_properties: { a: '' } },
    { id: 7, updated_at: 'never' },
  ])
    expect((await update(me, ids[0]!, fields)).json()).toEqual(before);
  expect(await readTimestamps()).toEqual(timestamps);
});

test.each([
  [{ idStatus: 5 }, 'Field(s) not valid: idStatus'],
  [{ idStatus: 2 }, 'Field(s) not valid: idStatus'],
  [{ idStatus: 'x', idPaid: 2 }, 'Field(s) not valid: idStatus,idPaid'],
  [{ idStatus: '', idPaid: '' }, 'Missing field(s): idStatus,idPaid'],
  [{ idStatus: '', idPaid: 2 }, 'Missing field(s): idStatus. Field(s) not valid: idPaid'],
  [{ completed: 'perhaps' }, 'Field(s) not valid: completed'],
  [{ custom_properties: { ['x'.repeat(41)]: 'x' } }, 'Field(s) not valid: custom_properties'],
  [{ custom_properties: 'x' }, 'Field(s) not valid: custom_properties'],
])('%o is rejected', async (fields, error) => {
  const { me, ids } = await stage();
  const before = await oneOf(me, ids[0]!);
  const response = await update(me, ids[0]!, { no_show: 1, ...fields });
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect(await oneOf(me, ids[0]!)).toEqual(before);
});

test('statuses 4 and 8 free the seat and promote the next participant', async () => {
  for (const idStatus of [4, 8]) {
    const { me, dateId, ids } = await stage({ capacityMax: 1, capacityWait: 1 });
    await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
    const { status, status_updated_at, updated_at } = (await update(me, ids[0]!, { idStatus })).json<Item>();
    expect([status.id, status_updated_at]).toEqual([idStatus, updated_at]);
    expect(await statusesOnDate(me, dateId)).toEqual([idStatus, 1]);
  }
});

test('taking a seat follows the booking rules', async () => {
  const { me, dateId, ids } = await stage({ capacityMax: 1, capacityOverbook: 1, capacityWait: 1 }, 2);
  const to = async (n: number, idStatus: number) => {
    const response = await update(me, ids[n]!, { idStatus });
    return response.status === 200 ? response.json<Item>()['status'].id : response.json<Item>()['error'];
  };
  expect(await statusesOnDate(me, dateId)).toEqual([1, 2]);
  expect(await to(0, 7)).toBe(7);
  expect(await to(1, 1)).toBe(2);
  expect(await to(1, 2)).toBe(2);
  expect(await to(0, 4)).toBe(4);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1]);
  expect(await to(0, 7)).toBe(2);
  expect(await to(0, 8)).toBe(8);
  await bookOrFail(me, dateId);
  expect(await to(0, 1)).toBe('No seat is available');
  expect(await to(0, 3)).toBe(3);
  expect(await to(1, 3)).toBe('No seat is available');
  expect(await seatCounters(me, dateId)).toEqual([1, 1, 0, 1]);
});

test('moving a participant to the waiting list promotes the next one', async () => {
  const { me, dateId, ids } = await stage({ capacityMax: 1, capacityWait: 2 });
  expect((await update(me, ids[0]!, { idStatus: 3 })).json()).toMatchObject({ status: { id: 3 } });
  expect(await statusesOnDate(me, dateId)).toEqual([3]);
  await update(me, ids[0]!, { idStatus: 1 });
  await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
  await update(me, ids[0]!, { idStatus: 3 });
  expect(await statusesOnDate(me, dateId)).toEqual([3, 1]);
});

test('switching between confirmed and unconfirmed keeps the seat on a full date', async () => {
  const { me, dateId, ids } = await stage({ capacityMax: 3 }, 3);
  await changeDate(me, dateId, { capacityMax: 1 });
  for (const idStatus of [7, 1])
    expect((await update(me, ids[0]!, { idStatus })).json()).toMatchObject({ status: { id: idStatus } });
  expect(await seatCounters(me, dateId)).toEqual([3, 0, 0, 0]);
});

test.each([
  ['canceled', { statusId: 3 }],
  ['deleted', { deletedAt: '2026-01-01' }],
])('on a %s date no seat can be taken, but existing seats stay', async (_name, closed) => {
  const { me, dateId, ids } = await stage({ capacityMax: 3, capacityWait: 3 }, 3);
  const [seated, waiting, gone] = ids as [number, number, number];
  await update(me, gone, { idStatus: 4 });
  await update(me, waiting, { idStatus: 3 });
  await changeDate(me, dateId, closed);
  for (const [id, idStatus] of [
    ...[1, 7].map((idStatus) => [waiting, idStatus] as const),
    ...[1, 3, 7].map((idStatus) => [gone, idStatus] as const),
  ]) {
    const response = await update(me, id, { idStatus });
    expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: idStatus' }]);
  }
  for (const [id, idStatus] of [
    [seated, 7],
    [waiting, 3],
    [waiting, 8],
    [seated, 4],
  ] as const)
    expect((await update(me, id, { idStatus })).json()).toMatchObject({ status: { id: idStatus } });
  expect(await statusesOnDate(me, dateId)).toEqual([4, 8, 4]);
});

test('a deregistered participant can be reactivated', async () => {
  const { me, dateId, ids, booking_id } = await stage({ capacityMax: 1 });
  await deregister(me, booking_id);
  expect((await update(me, ids[0]!, { idStatus: 1 })).json()).toMatchObject({ status: { id: 1 } });
  await deregister(me, booking_id);
  await bookOrFail(me, dateId, { participants: [person()] });
  expect((await update(me, ids[0]!, { idStatus: 1 })).status).toBe(400);
});
