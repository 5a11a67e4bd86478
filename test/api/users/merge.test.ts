import { expect, test } from 'vitest';
import { outbox } from '../../../src/database/tables/outbox.ts';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { newestEvent } from '../../support/changes.ts';
import { addGathering } from '../../support/dates.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { sendQueued } from '../../support/locks.ts';
import { createAttendance, createCustomer, createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();

type Change = { type: string; resource_id: number | null; into?: number };
const merge = (me: Provider, id: number, body: object) => me.post(`/v2/course-users/${id}/merge`, body);
const changesSince = async (me: Provider, cursor: string) =>
  (await me.get(`/v2/changes?limit=1000&since=${cursor}`)).json<{ items: Change[] }>().items;
const rowsOf = async (me: Provider, table: string, columns: string) =>
  (await database.pool.query(`select ${columns} from ${table} where provider_id = $1 order by 1`, [me.id])).rows;

/** Two course users with a place each on one date; the first also attended, and has a session, links and mails. */
async function createTwo() {
  const me = await createProvider();
  const customerId = await createCustomer(me);
  const twice = { firstname: 'Kari', lastname: 'Nordmann', passwordHash: 'x' };
  const from = await createUser(me, { ...twice, username: 'from', email: 'kari@fjrod.example', phone: '1' });
  const into = await createUser(me, { ...twice, username: 'into', email: 'kari@fjord.example', customerId });
  const courseId = await me.course();
  const first = await createOrder(me, { courseId, users: [from] });
  const second = await createOrder(me, { courseId, dateId: first.dateId, users: [into] });
  const gathering = await addGathering(me, first.dateId);
  await createAttendance(me, first.participantIds[0]!, gathering, { attended: true });
  const { pool } = database;
  const times = "now(), now(), now() + interval '1 day'";
  await pool.query(
    `insert into sessions (provider_id, hash, user_id, created_at, used_at, expires_at)
    values ($1, $2, $3, ${times}), ($1, $4, $5, ${times})`,
    [me.id, `s${from}`, from, `s${into}`, into],
  );
  await write(me, async (tx, now) => {
    const own = { providerId: me.id, createdAt: now, dueAt: '2999-01-01' };
    await tx.insert(outbox).values([
      { ...own, userId: from, purpose: 'account_created' },
      { ...own, userId: from, purpose: 'receipt', participantId: first.participantIds[0]! },
    ]);
    await tx.execute(`insert into import_refs (provider_id, kind, ref, item_id)
      values (${me.id}, 'user', 'a', ${from}), (${me.id}, 'customer', 'b', ${from})`);
  });
  await pool.query(
    `insert into tokens (provider_id, hash, purpose, user_id, mail_id, created_at, expires_at)
     select provider_id, 't' || id, 'password', user_id, id, now(), now() from outbox
     where provider_id = $1 and purpose = 'account_created'`,
    [me.id],
  );
  return { me, from, into, first, second };
}

const read = async (me: Provider, id: number) => (await me.get(`/v2/course-users/${id}`)).json<object>();
const counts = { participants: 1, orders: 1, attendances: 1, sessions: 1, links: 1 };

test('everything of the merged course user follows, and its access ends', async () => {
  const { me, from, into, first, second } = await createTwo();
  const [kept, cursor] = [await read(me, into), await newestEvent(me)];
  const response = await merge(me, from, { into });
  expect([response.status, response.json()]).toEqual([200, { id: from, into, dry_run: false, ...counts }]);

  const places = [first, second].map(({ participantIds }) => participantIds[0]!);
  for (const id of places) {
    const participant = (await me.get(`/v2/participants/${id}?include=attendance`)).json<Record<string, any>>();
    expect(participant).toMatchObject({ coursedate: { id: first.dateId }, user: { id: into } });
    expect(participant['attendance']).toHaveLength(id === places[0] ? 1 : 0);
  }
  expect(await read(me, into)).toEqual(kept);
  expect((await me.get(`/v2/course-users/${from}`)).status).toBe(404);
  expect(await rowsOf(me, 'sessions', 'user_id')).toEqual([{ user_id: into }]);
  expect(await rowsOf(me, 'tokens', 'user_id')).toEqual([]);
  expect(await rowsOf(me, 'outbox', 'purpose, user_id')).toEqual([{ purpose: 'receipt', user_id: into }]);
  expect(await rowsOf(me, 'import_refs', 'kind, item_id')).toEqual([
    { kind: 'customer', item_id: from },
    { kind: 'user', item_id: into },
  ]);
  expect((await rowsOf(me, 'course_dates', 'num_confirmed'))[0]).toEqual({ num_confirmed: 2 });
  expect(await changesSince(me, cursor)).toMatchObject([
    { type: 'participant.updated', resource_id: places[0] },
    { type: 'courseuser.merged', resource_id: from, into },
  ]);
  const audited = await rowsOf(me, 'audit_entries', 'id, action, to_json(item_ids) as item_ids');
  expect(audited.at(-1)).toMatchObject({ action: 'POST /v2/course-users/:id/merge', item_ids: [from, into] });

  expect((await merge(me, from, { into })).status).toBe(404);
});

test('confirmed interests of the merged e-mail go to that of the one that stays, once for a course', async () => {
  const { me, from, into } = await createTwo();
  const courses = [await me.course(), await me.course(), await me.course()];
  const add = (courseId: number, email: string, isConfirmed = true) =>
    write(me, (tx) =>
      tx.execute(`insert into course_interests (provider_id, course_id, email, created_at, confirmed_at)
        values (${me.id}, ${courseId}, '${email}', now(), ${isConfirmed ? 'now()' : 'null'})`),
    );
  for (const id of courses.slice(0, 2)) await add(id, 'kari@fjrod.example');
  await add(courses[1]!, 'kari@fjord.example');
  await add(courses[2]!, 'kari@fjrod.example', false);
  await merge(me, from, { into });
  expect(await rowsOf(me, 'course_interests', 'course_id, email')).toEqual([
    { course_id: courses[0], email: 'kari@fjord.example' },
    { course_id: courses[1], email: 'kari@fjord.example' },
    { course_id: courses[2], email: 'kari@fjrod.example' },
  ]);
});

test('interests of an e-mail that another course user has stay', async () => {
  const { me, from, into } = await createTwo();
  await createUser(me, { username: 'child', email: 'Kari@fjrod.example' });
  const courseId = await me.course();
  await write(me, (tx) =>
    tx.execute(`insert into course_interests (provider_id, course_id, email, created_at, confirmed_at)
      values (${me.id}, ${courseId}, 'kari@fjrod.example', now(), now())`),
  );
  await merge(me, from, { into });
  expect(await rowsOf(me, 'course_interests', 'email')).toEqual([{ email: 'kari@fjrod.example' }]);
});

test('only a merge has `into` in the feed', async () => {
  const { me, from, into } = await createTwo();
  const cursor = await newestEvent(me);
  await merge(me, from, { into });
  await me.put(`/v2/course-users/${into}`, { phone: '2' });
  const changes = await changesSince(me, cursor);
  expect(changes.map((one) => [one.type, 'into' in one])).toEqual([
    ['participant.updated', false],
    ['courseuser.merged', true],
    ['courseuser.updated', false],
  ]);
  const merged = await me.get(`/v2/changes?since=${cursor}&types[]=courseuser.merged`);
  expect(merged.json<{ items: Change[] }>().items.map(({ type }) => type)).toEqual(['courseuser.merged']);
});

test.each(dialects)('a dry run counts and changes nothing: %s', async (dialect) => {
  const { me, from, into, first } = await createTwo();
  const [before, cursor] = [await read(me, from), await newestEvent(me)];
  const body = encodeBody(dialect, { into, dry_run: true });
  const response = await me.post(`/v2/course-users/${from}/merge`, body, contentTypeHeader(dialect));
  const named = { ...counts, coursedate_ids: [first.dateId] };
  expect([response.status, response.json()]).toEqual([200, { id: from, into, dry_run: true, ...named }]);
  const inQuery = await me.post(`/v2/course-users/${from}/merge?dry_run=1`, { into });
  expect(inQuery.json()).toEqual(response.json());
  expect(await read(me, from)).toEqual(before);
  expect(await changesSince(me, cursor)).toEqual([]);
});

test('a dry run names the dates on which both have a place, without those that one has left', async () => {
  const { me, from, into, second } = await createTwo();
  const courseId = await me.course();
  await createOrder(me, { courseId, users: [from] });
  const preview = async () =>
    (await merge(me, from, { into, dry_run: true })).json<{ coursedate_ids: number[] }>().coursedate_ids;
  expect(await preview()).toEqual([second.dateId]);
  const both = await createOrder(me, { courseId, users: [from, into] });
  expect(await preview()).toEqual([second.dateId, both.dateId]);
  await me.put(`/v2/booking/${second.bookingId}/deregister`, {});
  expect(await preview()).toEqual([both.dateId]);
});

test('the repeated request that created the merged person shows the one that stays', async () => {
  const { me, from } = await createTwo();
  const key = { 'idempotency-key': 'k' };
  const kari = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@three.example' };
  const create = () => me.post('/v2/course-users', kari, key);
  const created = (await create()).json<{ id: number }>().id;
  const { dateId } = await createBookableDate(me);
  const { participants } = await bookOrFail(me, (await createBookableDate(me)).dateId, { participants: [kari] });
  const move = () => me.post(`/v2/participants/${participants[0]!.id}/move`, { coursedate_id: dateId }, key);
  expect((await move()).json<object>()).toMatchObject({ user: { id: created } });

  const last = await createUser(me, { firstname: 'Kari', email: 'kari@last.example' });
  for (const [id, into] of [[created, from] as const, [from, last] as const]) {
    expect((await merge(me, id, { into })).status).toBe(200);
    const staying = await read(me, into);
    const again = await create();
    expect([again.status, again.json(), again.headers['idempotent-replayed']]).toEqual([201, staying, 'true']);
    expect(again.headers['location']).toMatch(new RegExp(`/v2/course-users/${into}$`));
    expect((await move()).json<object>()).toMatchObject({ id: participants[0]!.id, user: staying });
  }
});

test('a response that a merge changes while another one waits for the lock shows the one that stays at last', async () => {
  const { me, from, into } = await createTwo();
  const body = person();
  const create = () => me.post('/v2/course-users', body, { 'idempotency-key': 'k' });
  const created = (await create()).json<{ id: number }>().id;
  await sendQueued(database, me, [() => merge(me, created, { into: from }), () => merge(me, from, { into })]);
  expect((await create()).json()).toEqual(await read(me, into));
});

test('the link to an offer of the merged person ends, and the one that stays gets another', async () => {
  const { me, from, into, first } = await createTwo();
  await write(me, (tx) =>
    tx.execute(`update participants set status_id = 7, held_for = 'offer', held_until = '2999-01-01'
      where provider_id = ${me.id} and id = ${first.participantIds[0]}`),
  );
  await write(me, (tx) =>
    tx.execute(`insert into booking_links (provider_id, hash, booking_id, participant_id, created_at, expires_at)
      values (${me.id}, 'offer', ${first.bookingId}, ${first.participantIds[0]}, now(), now() + interval '1 day')`),
  );
  expect((await merge(me, from, { into, dry_run: true })).json<object>()).toMatchObject({ links: 2 });
  expect((await merge(me, from, { into })).json<object>()).toMatchObject({ links: 2 });
  expect(await rowsOf(me, 'booking_links', 'participant_id')).toEqual([]);
  expect(await rowsOf(me, 'outbox', 'purpose, user_id')).toContainEqual({ purpose: 'offer', user_id: into });
});

test('refuses what it cannot merge', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await createUser(me), await createUser(other)];
  for (const [id, into, status, error] of [
    [mine, mine, 400, 'Field(s) not valid: into'],
    [mine, theirs, 400, 'Field(s) not valid: into'],
    [mine, 2 ** 40, 400, 'Field(s) not valid: into'],
    [theirs, mine, 404, 'Course user not found'],
    [2 ** 40, mine, 404, 'Course user not found'],
    [theirs, theirs, 404, 'Course user not found'],
  ] as const) {
    const response = await merge(me, id, { into });
    expect([id, into, response.status, response.json()]).toEqual([id, into, status, { error }]);
  }
  expect((await merge(me, mine, {})).json()).toEqual({ error: 'Missing field(s): into' });
  expect((await merge(me, mine, { into: 'x' })).json()).toEqual({ error: 'Field(s) not valid: into' });
  expect((await me.get(`/v2/course-users/${mine}`)).status).toBe(200);
});

test.each(['', '/ID', '?format=csv'])('a read during a merge shows the one that stays: %s', async (path) => {
  const me = await createProvider();
  const [from, into] = [await createUser(me), await createUser(me)];
  const { participantIds } = await createOrder(me, { courseId: await me.course(), users: [from] });
  const isWaiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let reading: ReturnType<Provider['get']>;
  await write(me, async (tx, now) => {
    await tx.execute('lock table course_users in access exclusive mode');
    reading = me.get(`/v2/participants${path.replace('ID', String(participantIds[0]))}`);
    // The read has the participant, and waits for its user.
    await expect.poll(async () => (await database.pool.query(isWaiting)).rowCount).toBe(1);
    const own = `provider_id = ${me.id}`;
    await tx.execute(`update participants set user_id = ${into}, updated_at = '${now}' where ${own}`);
    await tx.execute(`delete from course_users where ${own} and id = ${from}`);
  });
  const { status, text } = await reading!;
  expect([status, /"user":\{"id":(\d+)/.exec(text)?.[1] ?? text.includes(`,${into},`)]).toEqual([
    200,
    path === '?format=csv' ? true : String(into),
  ]);
});

test('a later booking of the merged person creates another one', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const kari = person();
  const book = async () => (await bookOrFail(me, dateId, { participants: [kari] })).participants[0]!.id;
  const userOf = async (id: number) =>
    (await me.get(`/v2/participants/${id}`)).json<{ user: { id: number } }>().user.id;
  const first = await book();
  const [from, into] = [await userOf(first), await createUser(me)];
  expect((await merge(me, from, { into })).status).toBe(200);
  const second = await userOf(await book());
  expect([await userOf(first), second > into]).toEqual([into, true]);
});

/** Participants of a course user on one date, by one statement. */
async function addPlaces(me: Provider, user: number, count: number) {
  const { bookingId, dateId } = await createOrder(me, { courseId: await me.course(), users: [] });
  await write(me, (tx, now) =>
    tx.execute(`insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_updated_at, entry_source, created_at, updated_at)
        select b.provider_id, b.id, d.course_id, d.id, ${user}, '${now}', 'User', '${now}', '${now}'
        from bookings b join course_dates d on d.provider_id = b.provider_id and d.id = ${dateId}, generate_series(1, ${count})
        where b.provider_id = ${me.id} and b.id = ${bookingId}`),
  );
}

test('a course user with 2,200 participants is merged in slices; the feed has the change of each', async () => {
  const me = await createProvider();
  const [from, into] = [await createUser(me), await createUser(me)];
  await addPlaces(me, from, 2_200);
  const cursor = await newestEvent(me);
  const response = await merge(me, from, { into });
  expect([response.status, response.json()]).toMatchObject([200, { participants: 2_200, orders: 1 }]);
  const first = await changesSince(me, cursor);
  expect(first.map(({ type }) => type)).toEqual(Array(1_000).fill('participant.updated'));
  const { rows } = await database.pool.query<{ change: string; count: number }>(
    `select change, count(*)::int from events where provider_id = $1 and change in ('updated', 'merged', 'resync')
      and resource in ('participant', 'courseuser') group by 1 order by 1`,
    [me.id],
  );
  // The resync is that of the insert.
  expect(rows).toEqual([
    { change: 'merged', count: 1 },
    { change: 'resync', count: 1 },
    { change: 'updated', count: 2_200 },
  ]);
});

test('nothing refers to the merged one, whatever is written between two slices', async () => {
  const me = await createProvider();
  const [from, into] = [await createUser(me), await createUser(me)];
  const { dateId } = await createBookableDate(me);
  const offered = await createOrder(me, { courseId: await me.course(), users: [from] });
  const [place] = offered.participantIds;
  await addPlaces(me, from, 2_200);
  await write(me, (tx) =>
    tx.execute(`update participants set status_id = 7, held_for = 'offer', held_until = '2999-01-01'
      where provider_id = ${me.id} and id = ${place}`),
  );
  const state = { isMerged: false };
  const merging = merge(me, from, { into }).finally(() => (state.isMerged = true));
  const offers: unknown[] = [];
  while (!state.isMerged)
    await write(me, async (tx, now) => {
      const { rows } = await tx.execute<{ moved: boolean; left: number }>(`select
        (select user_id = ${into} from participants where provider_id = ${me.id} and id = ${place}) as moved,
        (select count(*)::int from participants where provider_id = ${me.id} and user_id = ${from}) as left`);
      const { moved, left } = rows[0]!;
      if (!moved || left === 0 || offers.length > 0) return;
      const waiting = await tx.execute(`select user_id from outbox where provider_id = ${me.id} and purpose = 'offer'`);
      offers.push(...waiting.rows);
      const own = { providerId: me.id, createdAt: now, dueAt: '2999-01-01' };
      await tx.insert(outbox).values({ ...own, userId: from, purpose: 'receipt', participantId: place! });
      await tx.execute(`insert into sessions (provider_id, hash, user_id, created_at, used_at, expires_at)
        values (${me.id}, 'between', ${from}, now(), now(), now() + interval '1 day')`);
      await tx.execute(`insert into participants
          (provider_id, booking_id, course_id, course_date_id, user_id, status_updated_at, entry_source, created_at, updated_at)
        select p.provider_id, p.booking_id, d.course_id, d.id, ${from}, '${now}', 'User', '${now}', '${now}'
        from participants p join course_dates d on d.provider_id = p.provider_id and d.id = ${dateId}
        where p.provider_id = ${me.id} and p.id = ${place}`);
    });
  expect((await merging).status).toBe(200);
  expect(offers).toEqual([{ user_id: into }]);
  for (const table of ['participants', 'outbox'])
    expect([table, await rowsOf(me, table, 'distinct user_id')]).toEqual([table, [{ user_id: into }]]);
  expect(await rowsOf(me, 'sessions', 'user_id')).toEqual([]);
});

test('one with more than 50,000 is refused', async () => {
  const me = await createProvider();
  const [from, into] = [await createUser(me), await createUser(me)];
  await addPlaces(me, from, 50_001);
  const response = await merge(me, from, { into });
  expect([response.status, response.json()]).toEqual([400, { error: 'A merge moves at most 50,000 items' }]);
});
