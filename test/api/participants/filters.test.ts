import { expect, test } from 'vitest';
import { createCourseDate, createOrder, createUser } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const listIds = (me: Provider) => async (query: string) =>
  (await me.get(`/v2/participants?${query}`)).json<{ id: number }[]>().map(({ id }) => id);

async function createParticipants(me: Provider) {
  const courseId = await me.course();
  const dateId = await createCourseDate(me, courseId);
  const kari = await createUser(me, { firstname: 'Anne Kari', lastname: 'Øvrebø-Li', email: 'Kari@havbris.example' });
  const ola = await createUser(me, { firstname: 'Ola', lastname: 'Nordmann', email: 'ola@havbris.example' });
  const one = await createOrder(me, { courseId, dateId, users: [kari, ola], participant: { statusId: 1, paidId: 1 } });
  const two = await createOrder(me, { courseId, dateId, users: [ola], participant: { statusId: 4, paidId: 3 } });
  const three = await createOrder(me, { courseId, dateId, users: [kari], participant: { statusId: 7, paidId: 3 } });
  return { one, two, three, all: [...one.participantIds, ...two.participantIds, ...three.participantIds] };
}

test('filters by status, payment, order and booking', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { one, two, three, all } = await createParticipants(me);
  const theirs = await createParticipants(other);
  const ids = listIds(me);
  expect(await ids('')).toEqual(all);
  expect(await ids('status_id=1')).toEqual(one.participantIds);
  expect(await ids('status_id[]=4&status_id[]=7')).toEqual([...two.participantIds, ...three.participantIds]);
  expect(await ids('status_id=4,7&paid_id=1')).toEqual([]);
  expect(await ids('paid_id=1')).toEqual(one.participantIds);
  expect(await ids('paid_id=3&order_by=id&order_direction=desc')).toEqual([
    ...three.participantIds,
    ...two.participantIds,
  ]);
  expect(await ids(`order_id=${one.orderId}`)).toEqual(one.participantIds);
  expect(await ids(`booking_id=${two.bookingId}`)).toEqual(two.participantIds);
  expect(await ids(`booking_id=${two.bookingId}&status_id=1`)).toEqual([]);
  expect(await ids(`order_id=${theirs.one.orderId}`)).toEqual([]);
  expect(await ids(`booking_id=${theirs.one.bookingId}`)).toEqual([]);
  for (const query of ['status_id=5', 'status_id[]=1&status_id[]=99', 'paid_id=2', 'order_id=0', 'booking_id=x'])
    expect((await me.get(`/v2/participants?${query}`)).status, query).toBe(400);
});

test('q finds words of names and e-mail from their start', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { one, two, three, all } = await createParticipants(me);
  await createParticipants(other);
  const ids = async (q: string) => listIds(me)(`q=${encodeURIComponent(q)}`);
  const [kari, ola] = one.participantIds;
  for (const q of ['kari', 'ANNE', 'li', 'øvre', 'anne li', 'kari@havbris.example'])
    expect(await ids(q), q).toEqual([kari, ...three.participantIds]);
  for (const q of ['ola', 'nordmann ola', 'OLA@hav']) expect(await ids(q), q).toEqual([ola, ...two.participantIds]);
  expect(await ids('havbris')).toEqual(all);
  for (const q of ['ari', 'vrebø', 'kari ola']) expect(await ids(q), q).toEqual([]);
  expect(await listIds(me)('q=ola&status_id=4')).toEqual(two.participantIds);
});
