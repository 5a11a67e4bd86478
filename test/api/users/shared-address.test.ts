import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { askFor, interestMails, listInterests } from '../../support/interests.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

const email = 'nord@shared.example';
type Export = Record<'interests' | 'mails' | 'refused_addresses', { name?: string; purpose?: string }[]>;
const exported = async (me: Provider, id: number) => (await me.get(`/v2/course-users/${id}/export`)).json<Export>();
const erase = async (me: Provider, id: number) => {
  const response = await me.post(`/v2/course-users/${id}/erase`, {});
  expect(response.status, response.text).toBe(200);
  return response.json<{ interests: number; mails: number }>();
};

/** Two persons with one address, an interest of each by name and one without a name, and a refused mail. */
async function createRelatives() {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const bookFor = async (firstname: string) => {
    const { participants } = await bookOrFail(me, dateId, { participants: [{ firstname, lastname: 'Nord', email }] });
    const { user } = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<{ user: { id: number } }>();
    return user.id;
  };
  const [kari, ola] = [await bookFor('Kari'), await bookFor('Ola')];
  const courses: number[] = [];
  for (const name of ['kari nord', 'Ola Nord', undefined]) {
    const courseId = await me.course({ title: `Course of ${name}` });
    expect((await askFor(me, courseId, { email, ...(name && { name }) })).status).toBe(202);
    courses.push(courseId);
  }
  await write(me, (tx) =>
    tx.execute(`with refused as (insert into refused_addresses (provider_id, email, reason, refused_at)
        values (${me.id}, '${email}', 'x', now()) returning id)
      insert into outbox (provider_id, purpose, refused_address_id, created_at, due_at)
      select ${me.id}, 'address_refused', id, now(), '2999-01-01' from refused`),
  );
  const readInterests = async () => {
    const lists = await Promise.all(courses.map((courseId) => listInterests(me, courseId)));
    return lists.flat().map(({ name }) => name);
  };
  const countPosts = async () =>
    (await database.pool.query('select from catalog_posts where provider_id = $1', [me.id])).rowCount;
  return { me, kari, ola, readInterests, countPosts };
}

test('what names an address alone is of nobody while two persons have it, and of the last one', async () => {
  const { me, kari, ola, readInterests, countPosts } = await createRelatives();
  const before = await exported(me, kari);
  expect(before.interests).toMatchObject([{ name: 'kari nord' }]);
  expect(before.refused_addresses).toEqual([]);
  expect(before.mails.filter(({ purpose }) => purpose?.includes('interest'))).toHaveLength(1);
  expect(before.mails.filter(({ purpose }) => purpose === 'address_refused')).toEqual([]);

  expect(await erase(me, kari)).toMatchObject({ interests: 1, mails: before.mails.length });
  expect(await readInterests()).toEqual(['Ola Nord', null]);
  expect(await countPosts()).toBe(3);
  expect(await interestMails(me)).toEqual(Array(2).fill(`interest_confirmation ${email}`));
  const after = await exported(me, ola);
  expect(after).toMatchObject({ interests: [{ name: 'Ola Nord' }, { name: null }], refused_addresses: [{}] });
  expect(after.mails.map(({ purpose }) => purpose)).toContain('address_refused');

  expect(await erase(me, ola)).toMatchObject({ interests: 2, mails: after.mails.length });
  expect([await readInterests(), await interestMails(me), await countPosts()]).toEqual([[], [], 0]);
});
