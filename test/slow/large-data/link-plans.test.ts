import type { QueryConfig } from 'pg';
import { expect, test } from 'vitest';
import { hashSecret, newProviderSecret } from '../../../src/core/secrets.ts';
import { queryBuilderOn, type UnlockedStore } from '../../../src/database/reader.ts';
import { findTokenOwner } from '../../../src/domains/school/auth/token-service.ts';
import { findInterest } from '../../../src/domains/courses/interests/service.ts';
import { findLink } from '../../../src/domains/messages/links/service.ts';
import { countReadRows } from '../../support/count-read-rows.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const count = 30_000;

/** The rows that the statement of a look-up reads. */
async function countRead(lookUp: (on: UnlockedStore) => Promise<object | undefined>) {
  const sent: { config: QueryConfig; values: unknown[] }[] = [];
  const query = (config: QueryConfig, values = config.values ?? []) => {
    sent.push({ config, values });
    return database.pool.query(config, values);
  };
  expect(await lookUp(queryBuilderOn({ query } as never))).toBeDefined();
  const [{ config, values }] = sent as [(typeof sent)[number]];
  return countReadRows(database, config, values);
}

test(`a link is found among ${count} whose mails were sent again`, { timeout: 300_000 }, async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const userId = await createUser(me, { email: 'kari@people.example' });
  const { bookingId } = await createOrder(me, { courseId, users: [userId] });
  const token = newProviderSecret(me.id);
  const earlier = `case n when 77 then '${hashSecret(token)}' else md5(n || ' 1') end`;
  const hashes = `md5(n::text), array[${earlier}, md5(n || ' 2')]`;
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
  const read = {
    findLink: await countRead((on) => findLink(on, 'booking', token)),
    findTokenOwner: await countRead((on) => findTokenOwner(on, 'sign_in', token)),
    findInterest: await countRead((on) => findInterest(on, token)),
  };
  expect(Object.entries(read).filter(([, rows]) => !(rows >= 1 && rows < 100))).toEqual([]);
});
