import { expect, test, vi } from 'vitest';
import { hashSecret } from '../../../src/core/secrets.ts';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { addDate, addGathering } from '../../support/dates.ts';
import { switchMails } from '../../support/mail.ts';
import { createAttendance, createOrder, createUser, write } from '../../support/orders.ts';
import { createLinkToken } from '../../support/pages.ts';
import { person, plantPerson } from '../../support/planted.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();

type Item = Record<string, unknown>;
type Export = Record<string, Item[]> & { course_user: Item; has_password: boolean; incomplete: string[]; page: number };
const read = async (me: Provider, id: number, query = '') =>
  (await me.get(`/v2/course-users/${id}/export${query}`)).json<Export>();

test('an export has what is held about the person', async () => {
  const me = await createProvider();
  const { id, customer, courseId, dateId, summary } = await plantPerson(me, database.pool);
  const place = summary.participants[0]!.id;
  await createAttendance(me, place, await addGathering(me, dateId), { attended: true });
  await me.post(`/v2/orders/${summary.order_id}/payments`, { amount: 400, method: 'card' });
  const bookingId = Number(summary.booking_id);
  await me.post(`/v2/booking/${bookingId}/link`, {});
  const token = await createLinkToken(me, { bookingId });
  const exported = await read(me, id);
  expect(exported).toMatchObject({
    course_user: { id, ...person, username: 'user-zylvaquist' },
    ...{ has_password: true, erased_at: null, page: 1, incomplete: [] },
    participants: [
      { id: place, user_comment: 'comment zylvaquist', custom_properties: { allergies: 'nuts zylvaquist' } },
    ],
    attendances: [{ participant_id: place, attended: true }],
    orders: [
      {
        id: Number(summary.order_id),
        invoice_address: 'invoice street zylvaquist',
        total_amount_before_discounts: 1000,
      },
    ],
    order_lines: [{ order_id: Number(summary.order_id), price_at_order_per_item_vat_excluded: 1000 }],
    bookings: [{ id: Number(summary.booking_id), booker_email: person.email }],
    customers: [{ id: customer, note: 'note zylvaquist' }],
    ...{ sessions: [{ created_at: expect.any(String) as string }], links: [{ purpose: 'sign_in' }] },
    booking_links: [{ booking_id: bookingId, participant_id: null }],
    mails: [
      { purpose: 'receipt', sent_at: null },
      { purpose: 'booking_link', booking_id: bookingId },
    ],
    interests: [{ course_id: courseId, email: person.email, name: 'name zylvaquist' }],
    import_refs: [{ kind: 'user', ref: 'ref-zylvaquist' }],
    ...{ audit_entries: [], payments: [{ amount: 400, method: 'card' }], voucher_redemptions: [] },
  });
  expect(JSON.stringify(exported)).not.toContain(hashSecret(token!));
  expect(JSON.stringify(exported)).not.toMatch(
    /hash-zylvaquist|session-zylvaquist|token-zylvaquist|link-zylvaquist|provider_id/,
  );
});

test.each([
  ['en', { status: 'Deregistered', paid: 'No' }],
  ['nb', { status: 'Avmeldt', paid: 'Nei' }],
])('places are in words beside their codes: %s', async (language, words) => {
  const [me, other] = [await createProvider(), await createProvider()];
  await other.course({ title: 'Other' });
  const courseId = await me.course({ title: 'Knots' });
  const ids = [
    await addDate(me, courseId, { startAt: '2030-06-10' }),
    await addDate(me, courseId, { startAt: '2031-06-10' }),
  ];
  const kari = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
  for (const dateId of ids) {
    const { booking_id } = await bookOrFail(me, dateId, { participants: [kari] });
    if (dateId === ids[0]) await me.put(`/v2/booking/${booking_id}/deregister`, {});
  }
  const [{ id }] = (await me.get('/v2/course-users')).json<[{ id: number }]>();
  const response = await me.get(`/v2/course-users/${id}/export`, { 'accept-language': language });
  const { participants } = response.json<{ participants: Item[] }>();
  expect(participants[0]).toMatchObject({ ...words, status_id: 4, paid_id: 3, coursedate_id: ids[0] });
  expect(participants.map(({ course, start_at }) => [course, start_at])).toEqual([
    ['Knots', '2030-06-10'],
    ['Knots', '2031-06-10'],
  ]);
});

test('the buyer of an order that somebody else pays is left out', async () => {
  const me = await createProvider();
  const [id, other] = [await createUser(me, { firstname: 'Kari' }), await createUser(me, { firstname: 'Ola' })];
  const courseId = await me.course();
  const { orderId, bookingId, participantIds } = await createOrder(me, {
    ...{ courseId, dateId: await addDate(me, courseId), users: [id, other] },
    ...{ order: { booker: 'Ola', invoiceAddress: 'Street' }, booking: { bookerName: 'Ola' } },
  });
  const exported = await read(me, id);
  expect(exported['orders']).toMatchObject([{ id: orderId, booker: null, invoice_address: null, currency: 'NOK' }]);
  expect(exported['bookings']).toMatchObject([{ id: bookingId, booker_name: null }]);
  expect(exported['participants']).toHaveLength(1);
  await createLinkToken(me, { bookingId });
  await createLinkToken(me, { bookingId, participantId: participantIds[0]! });
  expect((await read(me, id))['booking_links']).toMatchObject([{ participant_id: participantIds[0] }]);
});

test('lists of more than a page go on, and are named until then', async () => {
  const me = await createProvider();
  const id = await createUser(me);
  const { bookingId, dateId } = await createOrder(me, { courseId: await me.course(), users: [] });
  await write(me, (tx, now) =>
    tx.execute(`insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_updated_at, entry_source, created_at, updated_at)
      select b.provider_id, b.id, d.course_id, d.id, ${id}, '${now}', 'User', '${now}', '${now}'
      from bookings b join course_dates d on d.provider_id = b.provider_id and d.id = ${dateId}, generate_series(1, 251)
      where b.provider_id = ${me.id} and b.id = ${bookingId}`),
  );
  const [first, second] = [await read(me, id), await read(me, id, '?page=2')];
  expect([first['participants']!.length, first.incomplete]).toEqual([250, ['participants']]);
  expect([second['participants']!.length, second.incomplete, second['orders']]).toEqual([1, [], []]);
});

test('neither an export nor the list of mails reads the time and place of a date before its change', async () => {
  const me = await createProvider();
  await switchMails(me, { date_changed: true });
  const { courseId, dateId } = await createBookableDate(me);
  const { participants } = await bookOrFail(me, dateId);
  const changed = await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { end_time_at: '16:00' });
  expect(changed.status, changed.text).toBe(200);
  const stored = await database.pool.query(`select before is not null as "isStored" from outbox
    where provider_id = ${me.id} and purpose = 'date_changed'`);
  expect(stored.rows).toEqual([{ isStored: true }]);

  const [{ user }] = (await me.get(`/v2/participants?id=${participants[0]!.id}`)).json<[{ user: { id: number } }]>();
  const spy = vi.spyOn(database.pool, 'query');
  const { mails } = await read(me, user.id);
  const listed = (await me.get('/v2/mails')).json<Item[]>();
  const statements = JSON.stringify(spy.mock.calls.map(([statement]) => statement));
  spy.mockRestore();
  expect([mails, listed]).toMatchObject([[{ purpose: 'date_changed' }], [{ purpose: 'date_changed' }]]);
  expect(mails![0]).not.toHaveProperty('before');
  expect(statements).toMatch(/outbox/);
  expect(statements).not.toMatch(/\bbefore\b/);
});
