import { beforeAll, expect, test } from 'vitest';
import { readMigrations } from '../../../src/database/migration-history.ts';
import { outbox } from '../../../src/database/tables/outbox.ts';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { createUser, write } from '../../support/orders.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();

const odd = { firstname: 'Odd', lastname: 'Berg', email: 'odd@before.example' };
const vaar = { firstname: 'Vår', lastname: 'Li', email: 'vaar@now.example' };
const siv = { firstname: 'Siv', lastname: 'Moe', email: 'siv@last.example' };

const read = async <T = Record<string, any>>(me: Provider, path: string) => (await me.get(path)).json<T>();
const userOf = async (me: Provider, participantId: number) =>
  (await read<{ user: { id: number } }>(me, `/v2/participants/${participantId}`)).user.id;
const name = async (me: Provider, participantId: number, user: object) => {
  const response = await me.put(`/v2/participants/${participantId}`, { user });
  expect([response.status, response.text]).toEqual([200, expect.anything()]);
  return userOf(me, participantId);
};

type Mail = { purpose: string; user: number | null; address: string | null };
/** The waiting and sent mails of the school, in their order. */
const mailsOf = async (me: Provider) =>
  (
    await database.pool.query<Mail>(
      `select purpose, user_id as "user", address from outbox where provider_id = $1 order by id`,
      [me.id],
    )
  ).rows;
const send = (me: Provider) =>
  write(me, (tx) => tx.execute(`update outbox set sent_at = now() where provider_id = ${me.id} and sent_at is null`));
const notify = (me: Provider, participantId: number) =>
  write(me, async (tx, now) => {
    const notice = { providerId: me.id, createdAt: now, dueAt: '2999-01-01', address: 'school@school.example' };
    await tx.insert(outbox).values({ ...notice, purpose: 'notice_booked', participantId });
  });

const exported = async (me: Provider, id: number) =>
  (await read<{ mails: object[] }>(me, `/v2/course-users/${id}/export`)).mails.length;
const erase = async (me: Provider, id: number, body: object = {}) =>
  (await me.post(`/v2/course-users/${id}/erase`, body)).json<{ mails: number }>().mails;
/** The numbers of the export, the dry run and the erasure. */
const eraseCounted = async (me: Provider, id: number) => [
  await exported(me, id),
  await erase(me, id, { dry_run: true }),
  await erase(me, id),
];

/** A place that Odd had and Vår has, each told: his receipt and a notice are sent, the mails of the swap wait. */
async function createSwapped(booking: object = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const config = { send_receipt_email_to_participant: 1 };
  const { participants } = await bookOrFail(me, dateId, { participants: [odd], config, ...booking });
  const place = participants[0]!.id;
  const before = await userOf(me, place);
  await notify(me, place);
  await send(me);
  const now = await name(me, place, vaar);
  return { me, place, before, now };
}

test('erasing who holds a place now leaves the mails of the person before, waiting ones too', async () => {
  const { me, before, now } = await createSwapped();
  expect(await eraseCounted(me, now)).toEqual([1, 1, 1]);
  expect(await mailsOf(me)).toEqual([
    { purpose: 'receipt', user: before, address: null },
    { purpose: 'notice_booked', user: null, address: 'school@school.example' },
    { purpose: 'swap', user: before, address: null },
  ]);
});

test('erasing who held a place before deletes that person’s mails and the notice that named them alone', async () => {
  const { me, before, now } = await createSwapped();
  expect(await eraseCounted(me, before)).toEqual([3, 3, 3]);
  expect(await mailsOf(me)).toEqual([{ purpose: 'swap', user: now, address: null }]);
});

test('a notice that waits is about who has the place when it is sent, a sent one about whom it named', async () => {
  const { me, place, before, now } = await createSwapped();
  await notify(me, place);
  await send(me);
  const last = await name(me, place, siv);
  await notify(me, place);
  const counts = [await exported(me, before), await exported(me, now), await exported(me, last)];
  // The receipt, one notice and a swap; two swaps and one notice; a swap and the notice that waits.
  expect(counts).toEqual([3, 3, 2]);
  expect([await erase(me, now), await erase(me, last), await erase(me, before)]).toEqual([3, 2, 3]);
  expect(await mailsOf(me)).toEqual([]);
});

test('a notice about a place without a name is no mail of the person who gets it', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { participants } = await bookOrFail(me, dateId, {
    ...{ participants: undefined, places: 1, booker_name: 'Bo', booker_email: 'bo@pays.example' },
  });
  await notify(me, participants[0]!.id);
  await send(me);
  const named = await name(me, participants[0]!.id, vaar);
  expect(await eraseCounted(me, named)).toEqual([1, 1, 1]);
  expect((await mailsOf(me)).map(({ purpose }) => purpose)).toContain('notice_booked');
});

test.each([{ booker_name: 'Odd Berg', booker_email: odd.email }, { booker_email: odd.email }])(
  'mails to the booker stay when the person in the place is erased: %j',
  async (booker) => {
    const { me, now } = await createSwapped({ ...booker, config: { send_link_email_to_booker: 1 } });
    expect(await eraseCounted(me, now)).toEqual([1, 1, 1]);
    const purposes = (await mailsOf(me)).map(({ purpose }) => purpose);
    expect(purposes.filter((one) => one.startsWith('booking_'))).toHaveLength(1);
  },
);

test('mails to a relative with the same address stay', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const config = { send_receipt_email_to_participant: 1 };
  const bookFor = async (person: object) => {
    const { participants } = await bookOrFail(me, dateId, { participants: [person], config });
    return userOf(me, participants[0]!.id);
  };
  const [parent, child] = [await bookFor(odd), await bookFor({ ...odd, firstname: 'Siv' })];
  expect(await eraseCounted(me, parent)).toEqual([1, 1, 1]);
  expect(await mailsOf(me)).toEqual([{ purpose: 'receipt', user: child, address: null }]);
});

test('mails of a merged person are those of the one that stays', async () => {
  const { me, before } = await createSwapped();
  const into = await createUser(me, { firstname: 'Odd', lastname: 'Berg', email: 'odd@after.example' });
  expect((await me.post(`/v2/course-users/${before}/merge`, { into })).status).toBe(200);
  expect(await eraseCounted(me, into)).toEqual([3, 3, 3]);
});

beforeAll(async () => {
  // A swap tells both persons by default.
  const { me } = await createSwapped();
  expect((await mailsOf(me)).map(({ purpose }) => purpose)).toEqual(['receipt', 'notice_booked', 'swap', 'swap']);
});

test('the migration finds whom a notice of before has named by the swaps after it', async () => {
  const { me, place, before } = await createSwapped();
  await send(me);
  await name(me, place, siv);
  const statement = readMigrations()
    .flatMap(({ sql }) => sql)
    .find((text) => text.includes('SET named_user_id'))!;
  await write(me, (tx) =>
    tx.execute(`update outbox set named_user_id = null where provider_id = ${me.id};${statement}`),
  );
  expect(await exported(me, before)).toBe(3);
});
