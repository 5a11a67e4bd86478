import { expect, test } from 'vitest';
import { prepareMail } from '../../../src/plugins/delivery/mail/deliveries.ts';
import { loadMail } from '../../../src/plugins/delivery/mail/mails.ts';
import { completeCancellations } from '../../../src/domains/bookings/date-changes/cancellation-service.ts';
import { bookOrFail, createBookableDate, deregister, persons, statusesOnDate } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { addDate } from '../../support/dates.ts';
import { settings, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
type Staged = Awaited<ReturnType<typeof stage>>;

/** A date with bookings of so many persons each. */
async function stage(sizes: number[], date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me, date);
  const booked = [];
  for (const size of sizes) booked.push(await bookOrFail(me, dateId, { participants: persons(size) }));
  const url = `/v2/courses/${courseId}/coursedates/${dateId}`;
  return { me, courseId, dateId, booked, url, cancel: (body: Item = {}) => me.post(`${url}/cancel`, body) };
}

const read = async (me: Provider, text: string) => (await database.pool.query<Item>(text, [me.id])).rows;
/** Totals of the orders' credits, by first order, and recipients of mails about the date. */
const readCredits = (me: Provider) =>
  read(
    me,
    `select first_order_id::int as id, (total_before_discounts - total_discounts)::float8 as net from orders
     where provider_id = $1 and kind = 'credit' order by first_order_id, id`,
  );
const readTold = async (me: Provider) =>
  (
    await read(
      me,
      `select participant_id::int as id from outbox where provider_id = $1 and purpose = 'date_canceled' order by 1`,
    )
  ).map(({ id }) => id as number);
const peopleOf = ({ booked }: Staged) => booked.flatMap(({ participants }) => participants.map(({ id }) => id));
const statusOf = async ({ me, url }: Staged) => (await me.get(url)).json<Item>()['status_id'] as number;

test('everybody is credited, deregistered and told once; a repeated request changes nothing', async () => {
  const staged = await stage([1, 2, 2], { capacityMax: 5 });
  const { me, dateId, booked, cancel } = staged;
  const [left] = booked[2]!.participants;
  await deregister(me, booked[2]!.booking_id, { participants: [left!.id], config: { with_fee: true } });
  const cursor = await newestEvent(me);
  const counts = { participants: 4, moved: 0, credits: 3, mails: 4 };
  const body = { message: 'The instructor is ill', credit: true };
  expect((await cancel({ ...body, dry_run: true })).json()).toEqual({
    ...{ coursedate_id: dateId, dry_run: true, is_finished: false },
    ...counts,
  });
  expect([await eventsSince(me, cursor), await readTold(me), await readCredits(me)]).toEqual([[], [], []]);
  expect(await statusOf(staged)).not.toBe(3);

  const done = { coursedate_id: dateId, dry_run: false, is_finished: true, ...counts };
  expect((await cancel(body)).json()).toEqual(done);
  expect([await statusOf(staged), await statusesOnDate(me, dateId)]).toEqual([3, [4, 4, 4, 8, 4]]);
  // The fee of the one who left is not credited.
  const credits = booked.map(({ order_id }, n) => ({ id: Number(order_id), net: [-1000, -2000, -1000][n] }));
  expect(await readCredits(me)).toEqual(credits);
  expect(await readTold(me)).toEqual(peopleOf(staged).filter((id) => id !== left!.id));
  expect(await eventsSince(me, cursor)).toContain('coursedate.canceled');
  const reason = await read(me, `select distinct credit_reason from orders where provider_id = $1 and kind = 'credit'`);
  expect(reason).toEqual([{ credit_reason: 'The instructor is ill' }]);

  const after = await newestEvent(me);
  expect((await cancel(body)).json()).toEqual(done);
  expect([await eventsSince(me, after), (await readTold(me)).length]).toEqual([[], 4]);
  const other = await cancel({ message: 'x' });
  expect([other.status, other.headers['x-error-code']]).toEqual([400, 'already_canceled']);
});

test('without a credit everybody keeps the place and is told; send_mail false tells nobody', async () => {
  for (const send_mail of [true, false]) {
    const staged = await stage([1, 2]);
    const { me, dateId, cancel } = staged;
    expect((await cancel({ send_mail })).json()).toMatchObject({ credits: 0, mails: send_mail ? 3 : 0 });
    expect([await statusesOnDate(me, dateId), await readCredits(me)]).toEqual([[1, 1, 1], []]);
    expect(await readTold(me)).toEqual(send_mail ? peopleOf(staged) : []);
  }
});

test('a repeated request with another message is refused; one without a message is not', async () => {
  const { me, url, cancel } = await stage([1]);
  const done = await cancel({ message: 'Ill' });
  const cursor = await newestEvent(me);
  for (const dry_run of [true, false]) {
    const other = await cancel({ message: 'Flooded', dry_run });
    expect([other.status, other.json()]).toEqual([400, { error: 'The course date was canceled with another message' }]);
    expect(other.headers['x-error-code']).toBe('already_canceled');
  }
  for (const body of [{ message: 'Ill' }, { message: '' }, {}]) expect((await cancel(body)).text).toBe(done.text);
  expect(await eventsSince(me, cursor)).toEqual([]);
  const shown = (await me.get(`${url}?include[]=cancellation_message`)).json<Item>();
  expect(shown['cancellation_message']).toBe('Ill');
});

test.each([true, false])('a credit may be added later, once, and tells nobody again (mails: %s)', async (send_mail) => {
  const staged = await stage([1, 2]);
  const { me, dateId, url, cancel } = staged;
  const told = send_mail ? peopleOf(staged) : [];
  const counts = { participants: 3, mails: told.length };
  expect((await cancel({ message: 'Ill', send_mail })).json()).toMatchObject({ ...counts, credits: 0 });
  const cursor = await newestEvent(me);
  const later = { credit: true, send_mail };
  expect((await cancel({ ...later, dry_run: true })).json()).toMatchObject({ ...counts, credits: 2, dry_run: true });
  expect([await eventsSince(me, cursor), await statusesOnDate(me, dateId)]).toEqual([[], [1, 1, 1]]);

  const done = { ...counts, credits: 2, is_finished: true };
  for (const body of [later, later, { ...later, message: 'Ill' }])
    expect((await cancel(body)).json()).toMatchObject(done);
  expect([await statusesOnDate(me, dateId), (await readCredits(me)).length]).toEqual([[4, 4, 4], 2]);
  expect(await readTold(me)).toEqual(told);
  expect(await eventsSince(me, cursor)).not.toContain('coursedate.canceled');
  const reason = await read(me, `select distinct credit_reason from orders where provider_id = $1 and kind = 'credit'`);
  expect(reason).toEqual([{ credit_reason: 'Ill' }]);
  const shown = (await me.get(`${url}?include[]=cancellation_message`)).json<Item>();
  expect([shown['status_id'], shown['cancellation_message']]).toEqual([3, 'Ill']);
  for (const body of [{ send_mail }, { ...later, send_mail: !send_mail }])
    expect((await cancel(body)).headers['x-error-code']).toBe('already_canceled');
});

test('a credit that is added to an interrupted cancellation tells each person once', async () => {
  const staged = await stage(Array<number>(8).fill(1), { capacityMax: 8 });
  const { me, dateId, cancel } = staged;
  const name = `interrupt_${me.id}`;
  await database.pool.query(failBatches(name, me.id, 0));
  expect((await cancel()).status).toBe(500);
  await database.pool.query(`drop trigger ${name} on cancellations; drop function ${name}`);
  expect((await cancel({ credit: true })).json()).toMatchObject({ is_finished: true, credits: 8, mails: 8 });
  expect(await readTold(me)).toEqual(peopleOf(staged));
  expect(new Set(await statusesOnDate(me, dateId))).toEqual(new Set([4]));
});

test('an empty date is not canceled with a move to a date that cannot be named', async () => {
  const other = await createProvider();
  const { me, cancel, ...staged } = await stage([]);
  const foreign = (await createBookableDate(other)).dateId;
  const inactive = await createBookableDate(me, { course: { active: false } });
  const gone = await createBookableDate(me);
  await me.request('DELETE')(`/v2/courses/${gone.courseId}/coursedates/${gone.dateId}`);
  for (const move_to of [999_999_999, Number.MAX_SAFE_INTEGER, foreign, gone.dateId, inactive.dateId])
    for (const dry_run of [true, false]) {
      const refused = await cancel({ move_to, dry_run });
      expect([move_to, refused.status, refused.headers['x-error-code']]).toEqual([
        ...[move_to, 400, 'course_date_identifier_invalid'],
      ]);
    }
  expect(await statusOf({ me, cancel, ...staged })).toBe(1);
  const { dateId: move_to } = await createBookableDate(me);
  expect((await cancel({ move_to })).json()).toMatchObject({ moved: 0, is_finished: true });
});

test('the errors of a cancellation name the participants who cannot be moved', async () => {
  const staged = await stage([1, 1], { capacityMax: 2 });
  const { me, cancel } = staged;
  const { dateId: move_to } = await createBookableDate(me, { capacityMax: 1 });
  const { headers, ...refused } = await me.post(
    `${staged.url}/cancel`,
    { move_to },
    { accept: 'application/problem+json' },
  );
  expect([refused.status, headers['x-error-code']]).toEqual([400, 'no_seats_available']);
  const { errors } = refused.json<{ errors: Item[] }>();
  expect(errors.map((one) => one['participant_id'] as number)).toEqual([peopleOf(staged)[1]]);
  expect((await cancel({ move_to })).json()).toEqual({ error: 'Participant 2: no seat is available' });
});

test('a date that is held after all, and canceled again, is canceled anew', async () => {
  const staged = await stage([1]);
  const { me, url, cancel } = staged;
  const message = async () =>
    (await me.get(`${url}?include[]=cancellation_message`)).json<Item>()['cancellation_message'] as string | null;
  await cancel({ message: 'Too few' });
  expect(await message()).toBe('Too few');
  for (const status_id of [1, 3]) await me.put(url, { status_id });
  expect(await message()).toBeNull();
  expect((await cancel({ credit: true })).json()).toMatchObject({ is_finished: true, credits: 1, mails: 1 });
});

test('a free course leaves no credits, and two places of one person one mail', async () => {
  const { me, cancel, dateId } = await stage([], { course: { price_value: 0 } });
  const participants = persons(1);
  const [first] = [await bookOrFail(me, dateId, { participants }), await bookOrFail(me, dateId, { participants })];
  expect((await cancel({ credit: true })).json()).toMatchObject({ participants: 2, credits: 0, mails: 1 });
  expect(await readTold(me)).toEqual([first.participants[0]!.id]);
});

test('the booker of places without names is told once', async () => {
  const { me, dateId, cancel } = await stage([]);
  await bookOrFail(me, dateId, { participants: undefined, places: 3, booker_email: 'payer@people.example' });
  expect((await cancel({ credit: true })).json()).toMatchObject({ participants: 3, credits: 1, mails: 1 });
  const rows = await read(me, `select booking_id is not null as booker from outbox where provider_id = $1`);
  expect(rows).toEqual([{ booker: true }]);
});

test('all are moved to another date and told with the message, or nothing changes', async () => {
  const staged = await stage([2, 1], { capacityMax: 3, capacityWait: 1 });
  const { me, courseId, dateId, cancel } = staged;
  await bookOrFail(me, dateId, { participants: persons(1), config: { waiting_list_when_full: true } });
  const target = (date: Parameters<typeof addDate>[2]) => addDate(me, courseId, date);
  const [small, large] = [await target({ capacityMax: 2, capacityWait: 9 }), await target({ capacityMax: 4 })];
  const cursor = await newestEvent(me);
  for (const [move_to, code] of [
    [small, 'no_seats_available'],
    [999_999_999, 'course_date_identifier_invalid'],
    [dateId, 'same_item'],
  ] as const) {
    const refused = await cancel({ move_to });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([400, code]);
  }
  const counts = { participants: 4, moved: 4, credits: 0, mails: 4 };
  expect((await cancel({ move_to: large, dry_run: true })).json()).toMatchObject({ ...counts, is_finished: false });
  expect((await cancel({ move_to: large, credit: true })).status).toBe(400);
  expect([await eventsSince(me, cursor), await statusOf(staged)]).toEqual([[], 1]);

  const body = { move_to: large, message: 'The room is flooded' };
  const moved = await cancel(body);
  expect(moved.json()).toMatchObject({ ...counts, is_finished: true });
  expect([await statusesOnDate(me, dateId), await statusesOnDate(me, large)]).toEqual([[], [1, 1, 1, 1]]);
  const after = await newestEvent(me);
  expect((await cancel(body)).json()).toEqual(moved.json());
  expect(await eventsSince(me, after)).toEqual([]);
  const mails = await read(me, `select purpose, id::int as id from outbox where provider_id = $1`);
  expect(mails.map(({ purpose }) => purpose as string)).toEqual([
    ...Array<string>(4).fill('move'),
    ...Array<string>(3).fill('moved_away'),
  ]);
  const mail = await loadMail(database.unlocked, { providerId: me.id, id: mails[0]!['id'] as number });
  const prepared = await prepareMail({ database, settings, from: 'me@school.example' }, mail!, {} as never);
  const written = 'write' in prepared && (await prepared.write());
  expect(written).toMatchObject({ letter: { opening: expect.arrayContaining(['The room is flooded']) } });
});

const failBatches = (name: string, providerId: number, after: number) => `
  create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'interrupted'; end $$;
  create trigger ${name} before update on cancellations for each row
    when (old.provider_id = ${providerId} and old.last_booking_id > ${after}) execute function ${name}()`;

test.each(['the server', 'a repeated request'])('what was interrupted in the middle is completed by %s', async (by) => {
  const staged = await stage(Array<number>(8).fill(1), { capacityMax: 8 });
  const { me, dateId, cancel } = staged;
  const name = `interrupt_${me.id}`;
  await database.pool.query(failBatches(name, me.id, 0));
  expect((await cancel({ credit: true })).status).toBe(500);
  const [mails, credits] = [(await readTold(me)).length, (await readCredits(me)).length];
  expect([mails, credits]).toEqual([5, 5]);
  // Nobody joins meanwhile.
  const late = await me.post('/v2/booking', {
    coursedate_id: dateId,
    payment_method: 'invoice',
    participants: persons(1),
  });
  expect(late.status).toBe(400);
  await database.pool.query(`drop trigger ${name} on cancellations; drop function ${name}`);
  if (by === 'the server') await completeCancellations(database);
  else await cancel({ credit: true });
  expect((await readTold(me)).length).toBe(8);
  expect((await cancel({ credit: true })).json()).toMatchObject({ is_finished: true, credits: 8, mails: 8 });
  expect(await readTold(me)).toEqual(peopleOf(staged));
  expect(new Set((await readCredits(me)).map(({ id }) => id as number)).size).toBe(8);
});

test('nobody of a large booking that was credited keeps a seat of a date that is reopened meanwhile', async () => {
  const { me, dateId, url, cancel } = await stage([230, 1], { capacityMax: 231 });
  const name = `interrupt_${me.id}`;
  await database.pool.query(failBatches(name, me.id, 0));
  expect((await cancel({ credit: true })).status).toBe(500);
  expect((await me.put(url, { status_id: 1 })).status).toBe(200);
  await database.pool.query(`drop trigger ${name} on cancellations; drop function ${name}`);
  await completeCancellations(database);
  expect(await statusesOnDate(me, dateId)).toEqual([...Array<number>(230).fill(4), 1]);
  expect([await readCredits(me), (await readTold(me)).length]).toEqual([
    [{ id: expect.any(Number), net: -230_000 }],
    230,
  ]);
});

test('a large booking is credited once, and each of its participants gets one mail', async () => {
  const staged = await stage([230, 1], { capacityMax: 231 });
  const { me, dateId, cancel } = staged;
  const unnamed = { coursedate_id: dateId, payment_method: 'invoice', places: 150, booker_email: 'b@people.example' };
  await me.put(staged.url, { capacity_max: 1_000 });
  expect((await me.post('/v2/booking', unnamed)).status).toBe(201);
  expect((await cancel({ credit: true })).json()).toMatchObject({ is_finished: true, credits: 3, mails: 232 });
  expect((await readTold(me)).slice(0, 231)).toEqual(peopleOf(staged));
  expect((await readCredits(me)).length).toBe(3);
  const left = await read(me, `select count(*)::int as n from participants where provider_id = $1 and status_id = 4`);
  expect(left).toEqual([{ n: 381 }]);
});

test('a cancellation that fails delays no other one', async () => {
  const [failing, other] = [await stage([1]), await stage([1])];
  const names = [failing, other].map(({ me }) => `interrupt_${me.id}`);
  for (const [n, { me, cancel }] of [failing, other].entries()) {
    await database.pool.query(failBatches(names[n]!, me.id, -1));
    expect((await cancel({})).status).toBe(500);
  }
  const drop = (name: string) => database.pool.query(`drop trigger ${name} on cancellations; drop function ${name}`);
  await drop(names[1]!);
  await expect(completeCancellations(database)).rejects.toThrow();
  expect([await readTold(failing.me), await readTold(other.me)]).toEqual([[], peopleOf(other)]);
  await drop(names[0]!);
  await completeCancellations(database);
  expect(await readTold(failing.me)).toEqual(peopleOf(failing));
});

test('a date that is reopened between two batches ends its cancellation', async () => {
  const { me, url, cancel } = await stage(Array<number>(41).fill(1), { capacityMax: 41 });
  const canceling = cancel({});
  await expect.poll(async () => (await me.get(url)).json<Item>()['status_id'] as number, { interval: 1 }).toBe(3);
  const reopened = await me.put(url, { status_id: 1 });
  const { status, ...answer } = await canceling;
  expect([reopened.status, status, answer.json<Item>()['is_finished']]).toEqual([200, 200, true]);
});

test("another course's date, and another school's, is not found", async () => {
  const { me, dateId } = await stage([]);
  const other = await createProvider();
  const path = (courseId: number) => `/v2/courses/${courseId}/coursedates/${dateId}/cancel`;
  expect((await me.post(path(await me.course()), {})).status).toBe(404);
  expect((await other.post(path(await other.course()), {})).status).toBe(404);
});
