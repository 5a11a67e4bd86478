import { expect, test } from 'vitest';
import {
  createBookableDate,
  book,
  bookOrFail,
  errorCodes,
  deregister,
  createVoucher,
  persons,
  participantStatuses,
  statusesOnDate,
} from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import { createCampaign } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();
const { pool } = database;

/** A time and day that many days from now, by the database's clock. */
const timeIn = async (days: number) => {
  const { rows } = await pool.query<{ time: string; day: string }>(
    `select t::text as time, t::date::text as day from (select clock_timestamp() + $1 * interval '1 day' as t) t`,
    [days],
  );
  return rows[0]!;
};

/** A school that wrote once while the clock was a year ahead. */
async function schoolAhead() {
  const me = await createProvider();
  const isSet = await pool.query(
    `update provider_state set changed_at = clock_timestamp() + interval '1 year' where provider_id = $1`,
    [me.id],
  );
  expect(isSet.rowCount).toBe(1);
  return me;
}

const soon = { startAt: (await timeIn(30)).day, endAt: (await timeIn(31)).day, deadlineAt: (await timeIn(20)).day };
const key = { 'idempotency-key': 'one' };

test('a timestamp ahead of the clock closes no date, and later timestamps still increase', async () => {
  const me = await schoolAhead();
  const { dateId } = await createBookableDate(me, soon);
  expect((await book(me, dateId)).status).toBe(201);

  const { rows } = await pool.query<{ ahead: boolean }>(
    `select bool_and(created_at > clock_timestamp() + interval '300 days') as ahead from orders where provider_id = $1`,
    [me.id],
  );
  expect(rows[0]!.ahead).toBe(true);
  const passed = await createBookableDate(me, { ...soon, deadlineAt: (await timeIn(-2)).day });
  expect(errorCodes(await book(me, passed.dateId))).toEqual(['deadline_passed']);
});

test('campaigns and vouchers use the real clock', async () => {
  const me = await schoolAhead();
  const { courseId, dateId } = await createBookableDate(me, soon);
  const [before, after] = [(await timeIn(-1)).time, (await timeIn(1)).time];
  await createCampaign(me, { campaignCode: 'runs', startsAt: before, endsAt: after }, { courses: [courseId] });
  await createCampaign(me, { campaignCode: 'waits', startsAt: after }, { courses: [courseId] });
  await createCampaign(me, { campaignCode: 'over', endsAt: before }, { courses: [courseId] });
  const booking = async (code: string) => errorCodes(await book(me, dateId, { campaign_code: code }));
  expect(await booking('runs')).toBeUndefined();
  expect(await booking('waits')).toEqual(['campaign_code_invalid']);
  expect(await booking('over')).toEqual(['campaign_code_expired']);

  const voucher = async (expiresAt: string) => (await createVoucher(me, { amount: '10000', expiresAt })).code;
  const withVoucher = async (code: string) => errorCodes(await book(me, dateId, { voucher_code: code }));
  expect(await withVoucher(await voucher(after))).toBeUndefined();
  expect(await withVoucher(await voucher(before))).toEqual(['voucher_code_expired']);
});

test('the validation of codes uses the real clock', async () => {
  const me = await schoolAhead();
  const { courseId } = await createBookableDate(me, soon);
  const [before, after] = [(await timeIn(-1)).time, (await timeIn(1)).time];
  await createCampaign(me, { campaignCode: 'runs', startsAt: before, endsAt: after }, { courses: [courseId] });
  await createCampaign(me, { campaignCode: 'waits', startsAt: after }, { courses: [courseId] });
  await createCampaign(me, { campaignCode: 'over', endsAt: before }, { courses: [courseId] });
  const campaign = async (code: string) =>
    (await me.get(`/v2/campaigns/validate/${code}?course_id=${courseId}`)).json<{ campaign: object }>().campaign;
  expect(await campaign('runs')).toMatchObject({ running: true, waiting: false, expired: false });
  expect(await campaign('waits')).toMatchObject({ running: false, waiting: true, expired: false });
  expect(await campaign('over')).toMatchObject({ running: false, waiting: false, expired: true });

  for (const [expiresAt, isExpired] of [
    [after, false],
    [before, true],
  ] as const) {
    const { code } = await createVoucher(me, { amount: '10000', expiresAt });
    const { voucher } = (await me.get(`/v2/vouchers/validate/${code}`)).json<{ voucher: object }>();
    expect(voucher).toMatchObject({ is_expired: isExpired });
  }
});

test('the next dates are those after the real time', async () => {
  const me = await schoolAhead();
  const { dateId } = await createBookableDate(me, soon);
  const past = { startAt: (await timeIn(-3)).day, endAt: (await timeIn(-2)).day };
  await createBookableDate(me, { ...past, deadlineAt: past.startAt });
  const next = (await me.get('/v2/nextcoursedates')).json<{ coursedate_id: number }[]>();
  expect(next.map(({ coursedate_id }) => coursedate_id)).toEqual([dateId]);
});

test('the waiting list of a future date is promoted', async () => {
  const me = await schoolAhead();
  const { dateId } = await createBookableDate(me, { ...soon, capacityMax: 1, capacityWait: 2 });
  const first = await bookOrFail(me, dateId);
  expect(participantStatuses(await bookOrFail(me, dateId, { config: { waiting_list_when_full: true } }))).toEqual([3]);
  expect((await deregister(me, first.booking_id)).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1]);
});

test('a course with future participants cannot be deleted', async () => {
  const me = await schoolAhead();
  const { courseId, dateId } = await createBookableDate(me, soon);
  await bookOrFail(me, dateId);
  expect((await me.request('DELETE')(`/v2/courses/${courseId}`)).status).toBe(400);
});

test('a past date moved to the future promotes its waiting list', async () => {
  const me = await schoolAhead();
  const courseId = await me.course();
  const dateId = await addDate(me, courseId, { ...soon, capacityMax: 2, capacityWait: 2 });
  const { booking_id } = await bookOrFail(me, dateId, { participants: persons(2) });
  await bookOrFail(me, dateId, { config: { waiting_list_when_full: true } });
  const days = async (start: number, end: number) => ({
    start_at: (await timeIn(start)).day,
    deadline_at: (await timeIn(start)).day,
    end_at: (await timeIn(end)).day,
  });
  const move = async (start: number, end: number) =>
    (await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, await days(start, end))).status;
  expect(await move(-9, -8)).toBe(200);
  await deregister(me, booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 3]);
  expect(await move(9, 10)).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 1]);
});

test('an idempotency key lasts for 24 real hours', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, soon);
  const body = { participants: persons(1) };
  const first = await book(me, dateId, body, key);
  const ahead = () =>
    pool.query(`update provider_state set changed_at = clock_timestamp() + interval '1 year' where provider_id = $1`, [
      me.id,
    ]);
  await ahead();
  expect((await book(me, dateId, body, key)).text).toBe(first.text);
  await book(me, dateId, {}, { 'idempotency-key': 'two' });
  expect(await lastingLonger(me)).toBe(0);
});

const lastingLonger = async (me: Provider) => {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from idempotency_records
      where provider_id = $1 and expires_at > clock_timestamp() + interval '25 hours'`,
    [me.id],
  );
  return rows[0]!.count;
};
