import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, persons } from '../../support/booking.ts';
import { changeDate } from '../../support/dates.ts';
import { queuedMails, switchMails } from '../../support/mail.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';
import { acceptOffer } from '../../../src/resources/seats/service.ts';

const { createProvider } = await sharedTestApp();

const wait = { config: { waiting_list_when_full: 1 } };
const setStatus = (me: Provider, id: number, idStatus: number) => me.put(`/v2/participants/${id}`, { idStatus });

/** A full date with people who wait. */
async function fullDate(waiting: number, date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  await switchMails(me, { promotion: true });
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 3, ...date });
  const { booking_id, participants } = await bookOrFail(me, dateId);
  const ids: number[] = [];
  for (let n = 0; n < waiting; n += 1) ids.push((await bookOrFail(me, dateId, wait)).participants[0]!.id);
  return { me, dateId, bookingId: booking_id, seatedId: participants[0]!.id, ids };
}

test('a person from the waiting list is told of the place, where the school has switched that on', async () => {
  const { me, bookingId, dateId, ids } = await fullDate(2);
  await deregister(me, bookingId);
  expect(await queuedMails(me)).toEqual([`promotion ${ids[0]}`]);
  await switchMails(me, { promotion: false });
  await setStatus(me, ids[0]!, 4);
  expect(await queuedMails(me)).toEqual([`promotion ${ids[0]}`]);
  await switchMails(me, { promotion: true });
  const [waiting] = (await bookOrFail(me, dateId, wait)).participants;
  await changeDate(me, dateId, { capacityMax: 2 });
  expect((await setStatus(me, waiting!.id, 1)).status).toBe(200);
  expect((await setStatus(me, waiting!.id, 1)).status).toBe(200);
  expect(await queuedMails(me)).toEqual([`promotion ${ids[0]}`, `promotion ${waiting!.id}`]);
});

test('an overbooked participant is told of the seat, a place without a name is not', async () => {
  const { me, bookingId, dateId } = await fullDate(0, { capacityOverbook: 2 });
  const [overbooked] = (await bookOrFail(me, dateId)).participants;
  expect((await setStatus(me, overbooked!.id, 1)).status).toBe(200);
  expect(await queuedMails(me)).toEqual([]);
  await bookOrFail(me, dateId, { participants: undefined, places: 1 });
  await deregister(me, bookingId);
  await setStatus(me, overbooked!.id, 4);
  expect(await queuedMails(me)).toEqual([`promotion ${overbooked!.id}`]);
});

test.each(['by the person', 'by staff'])('an offer that is accepted %s is followed by a mail', async (by) => {
  const { me, bookingId, ids } = await fullDate(1, { waitingMode: 'offer' });
  const [id] = ids as [number];
  await deregister(me, bookingId);
  expect(await queuedMails(me)).toEqual([`offer ${id}`]);
  const ctx = await me.ctx();
  if (by === 'by staff') await setStatus(me, id, 1);
  else await ctx.write(['dates', 'people'], (tx, now) => acceptOffer(ctx, tx, now, id));
  expect(await queuedMails(me)).toEqual([`offer ${id}`, `promotion ${id}`]);
});

test('another status tells nobody, and another person gets the mail of the swap alone', async () => {
  const { me, seatedId, dateId, ids } = await fullDate(2);
  const left = await bookOrFail(me, dateId, { participants: persons(1, { status_id: 3 }) });
  await setStatus(me, left.participants[0]!.id, 4);
  await changeDate(me, dateId, { capacityMax: 9 });
  for (const status of [7, 1]) await setStatus(me, seatedId, status);
  for (const status of [7, 1]) await setStatus(me, ids[1]!, status);
  expect((await setStatus(me, left.participants[0]!.id, 1)).status).toBe(200);
  const [user] = persons(1);
  expect((await me.put(`/v2/participants/${ids[0]!}`, { idStatus: 1, user })).status).toBe(200);
  expect(await queuedMails(me)).toEqual([`swap ${ids[0]}`, `swap ${ids[0]}`]);
});
