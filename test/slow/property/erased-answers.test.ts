import { expect, test } from 'vitest';
import { keyedWrites } from '../../support/keyed-writes.ts';
import { addDate, addGathering } from '../../support/dates.ts';
import { createUser, write } from '../../support/orders.ts';
import { findPlanted, person, planted, plantPerson } from '../../support/planted.ts';
import { findWriteEndpoint } from '../../support/request-bodies.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const { pool } = database;

type Planted = Awaited<ReturnType<typeof plantPerson>>;
type Sent = { path: string; body: object };

/** Requests about the planted person, one of each operation that takes a key. */
const requests: Record<string, (me: Provider, found: Planted) => Promise<Sent> | Sent> = {
  'POST /v2/course-users': () => ({ path: '/v2/course-users', body: { ...person, firstname: `Other ${planted}` } }),
  'POST /v2/course-users/{id}/merge': async (me, { id }) => ({
    path: `/v2/course-users/${await createUser(me, person)}/merge`,
    body: { into: id },
  }),
  'POST /v2/booking': (_me, { dateId }) => ({
    path: '/v2/booking',
    body: { coursedate_id: dateId, payment_method: 'invoice', participants: [person] },
  }),
  'POST /v2/customers': () => ({
    path: '/v2/customers',
    body: { title: `${person.firstname} ${person.lastname}`, type: 2, email: person.email },
  }),
  'POST /v2/orders/{id}/payments': (_me, { summary }) => ({
    path: `/v2/orders/${summary.order_id}/payments`,
    body: { amount: 10, reference: `Vipps ${planted}` },
  }),
  'POST /v2/participants/{id}/move': async (me, { courseId, summary }) => ({
    path: `/v2/participants/${summary.participants[0]!.id}/move`,
    body: { coursedate_id: await addDate(me, courseId) },
  }),
  'POST /v2/mails/{id}/resend': async (me) => {
    await write(me, (tx) =>
      tx.execute(`update outbox set sent_at = now() - interval '1 day' where provider_id = ${me.id}`),
    );
    const [mail] = (await me.get('/v2/mails')).json<[{ id: number }]>();
    return { path: `/v2/mails/${mail.id}/resend`, body: {} };
  },
  'POST /v2/orders/{id}/credit': (_me, { summary }) => ({
    path: `/v2/orders/${summary.order_id}/credit`,
    body: { reason: `Illness of ${planted}` },
  }),
  'POST /v2/admin-users': () => ({ path: '/v2/admin-users', body: { ...person, role_ids: [1] } }),
  'POST /v2/instructors': () => ({ path: '/v2/instructors', body: person }),
};

/** Their answers have ids and numbers alone, and stay. */
const replayed = ['POST /v2/booking', 'POST /v2/course-users/{id}/merge', 'POST /v2/customers'];

/** An admin user and an instructor with the e-mail of the person are not erased. */
const stays = /^(admin_users|admin_memberships|instructors)\./;
const storedWith = async (me: Provider) =>
  (
    await pool.query<{ answer: string }>(
      `select answer::text as answer from idempotency_records where provider_id = $1 and answer::text like $2`,
      [me.id, `%${planted}%`],
    )
  ).rows.length;

async function sendAll(me: Provider, found: Planted) {
  const sent: { name: string; send: () => ReturnType<Provider['post']> }[] = [];
  for (const [name, prepare] of Object.entries(requests)) {
    const { path, body } = await prepare(me, found);
    const send = () => me.post(path, body, { 'idempotency-key': planted });
    const response = await send();
    expect([name, [200, 201].includes(response.status)], response.text).toEqual([name, true]);
    sent.push({ name, send });
  }
  const participants = [{ ...person, lastname: `Batch ${planted}`, email: `batch@${planted}.example` }];
  const booking = { coursedate_id: found.dateId, payment_method: 'invoice', participants, idempotency_key: 'batch' };
  const batch = await me.post('/v2/batch/booking', { bookings: [booking] }, { 'content-type': 'application/json' });
  expect(batch.json<object>()).toMatchObject({ results: [{ status: 201 }] });
  const gathering_id = await addGathering(me, found.dateId);
  const [{ id: participant_id }] = (await me.get(`/v2/participants?coursedate_id=${found.dateId}`)).json<
    [{ id: number }]
  >();
  await write(me, (tx) =>
    tx.execute(`insert into attendance_marks (provider_id, participant_id, gathering_id, marked_at, nonce, created_at)
      values (${me.id}, ${participant_id}, ${gathering_id}, now(), 'nonce ${planted}', now())`),
  );
  return sent;
}

const eraseAll = async (me: Provider) => {
  const persons = (await me.get('/v2/course-users')).json<{ id: number; lastname: string | null }[]>();
  for (const { id, lastname } of persons)
    if (lastname?.includes(planted)) expect((await me.post(`/v2/course-users/${id}/erase`, {})).status).toBe(200);
};

test('each operation that takes a key and the name or address of a person is sent about the person', () => {
  const isPersonal = (name: string) => /^(firstname|lastname|username|email)$/.test(name);
  const personal = keyedWrites
    .map(({ route }) => route)
    .filter((route) => findWriteEndpoint(route)?.names.some(isPersonal));
  expect(personal.length).toBeGreaterThan(3);
  expect(personal.filter((route) => !(route in requests))).toEqual([]);
});

test('after every keyed write about a person an erasure leaves no value in an answer or a table', async () => {
  const me = await createProvider();
  const found = await plantPerson(me, pool);
  const sent = await sendAll(me, found);
  expect(await storedWith(me)).toBeGreaterThan(6);
  const before = await findPlanted(pool, me.id);
  expect(before).toEqual(
    expect.arrayContaining(['idempotency_records.answer', 'payments.reference', 'attendance_marks.nonce']),
  );
  await eraseAll(me);
  const findLeft = async () => (await findPlanted(pool, me.id)).filter((name) => !stays.test(name));
  expect(await findLeft()).toEqual([]);
  for (const { name, send } of sent) {
    const { headers, text } = await send();
    const answer = [name, headers['idempotent-replayed'], headers['x-error-code'], text.includes(planted)];
    const expected = replayed.includes(name) ? ['true', undefined] : [undefined, 'response_erased'];
    expect(answer, text).toEqual([name, ...expected, false]);
  }
  expect(await findLeft()).toEqual([]);
});

test('negative control: an answer that is not marked as one with a person is found by the search', async () => {
  const me = await createProvider();
  await sendAll(me, await plantPerson(me, pool));
  await write(me, (tx) =>
    tx.execute(`update idempotency_records set has_course_user = false where provider_id = ${me.id}`),
  );
  await eraseAll(me);
  const left = await findPlanted(pool, me.id);
  expect(left.filter((name) => !stays.test(name))).toEqual(['idempotency_records.answer']);
});
