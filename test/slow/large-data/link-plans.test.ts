import { expect, test } from 'vitest';
import { findToken } from '../../../src/domains/school/auth/sql.ts';
import { findInterest } from '../../../src/domains/courses/interests/sql.ts';
import { findLink } from '../../../src/domains/messages/links/sql.ts';
import { countReadRows } from '../../support/count-read-rows.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const count = 30_000;

test(`a link is found among ${count} whose mails were sent again`, { timeout: 300_000 }, async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const userId = await createUser(me, { email: 'kari@people.example' });
  const { bookingId } = await createOrder(me, { courseId, users: [userId] });
  const hashes = `md5(n::text), array[md5(n || ' 1'), md5(n || ' 2')]`;
  const from = `from generate_series(1, ${count}) n`;
  await write(me, async (tx) => {
    await tx.execute(`insert into booking_links (provider_id, hash, earlier_hashes, booking_id, created_at, expires_at)
      select ${me.id}, ${hashes}, ${bookingId}, now(), '2100-01-01' ${from}`);
    await tx.execute(`insert into tokens (provider_id, hash, earlier_hashes, purpose, user_id, created_at, expires_at)
      select ${me.id}, ${hashes}, 'sign_in', ${userId}, now(), '2100-01-01' ${from}`);
    await tx.execute(`insert into course_interests (provider_id, link_hash, earlier_hashes, course_id, email, created_at)
      select ${me.id}, ${hashes}, ${courseId}, n || '@people.example', now() ${from}`);
  });
  await database.pool.query('analyze');
  const { rows } = await database.pool.query<{ hash: string }>("select md5('77 1') as hash");
  const hash = rows[0]!.hash;
  const read = {
    findLink: await countReadRows(database, findLink, [me.id, hash, false]),
    findToken: await countReadRows(database, findToken, [me.id, hash, 'sign_in']),
    findInterest: await countReadRows(database, findInterest, [me.id, hash]),
  };
  expect(Object.entries(read).filter(([, rows]) => !(rows >= 1 && rows < 100))).toEqual([]);
});
