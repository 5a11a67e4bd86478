import { sql } from 'drizzle-orm';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { SlowStatement } from '../../../src/database/preparing-client.ts';
import { courses } from '../../../src/database/tables/courses.ts';
import { batchLoader } from '../../../src/lists/loaders.ts';
import { waitForBlocked } from '../../support/locks.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase, settings } from '../../support/test-app.ts';

test('a slow statement is reported with the provider and the id of its request, a read and a write', async () => {
  const name = await ownDatabase();
  const database = openTestDatabase(name);
  const reported: SlowStatement[] = [];
  database.onSlowStatement((statement) => void reported.push(statement));
  const testApp = await openTestApp(database);
  onTestFinished(testApp.close);
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const [courseId] = [await me.course()];

  const locker = new Client(connectionTo(name));
  await locker.connect();
  onTestFinished(() => locker.end());
  await locker.query('begin; lock table courses in access exclusive mode');
  const responses = Promise.all([
    me.get(`/v2/courses/${courseId}`, { 'x-request-id': 'a-read' }),
    me.put(`/v2/courses/${courseId}`, { title: 'Slow' }, { 'x-request-id': 'a-write' }),
    other.get('/v2/courses', { 'x-request-id': 'a-list' }),
  ]);
  // The limit of a slow statement is half a second.
  await waitForBlocked(locker, 3, 0.6);
  await locker.query('rollback');
  expect((await responses).map(({ status }) => status)).toEqual([200, 200, 200]);
  const found = reported.map(({ provider, reqId }) => [reqId, provider]);
  expect(found).toContainEqual(['a-read', me.id]);
  expect(found).toContainEqual(['a-write', me.id]);
  expect(found).toContainEqual(['a-list', other.id]);
  expect(found.filter(([reqId, provider]) => (reqId === 'a-list') !== (provider === other.id))).toEqual([]);
});

test('the statements of a loader are prepared once for all requests, and sent by the client of each', async () => {
  const database = openTestDatabase(await ownDatabase());
  onTestFinished(() => database.close());
  const [testApp, reported] = [await openTestApp(database), new Array<SlowStatement>()];
  const me = await testApp.createProvider();
  const course = await me.course();
  database.onSlowStatement((statement) => void reported.push(statement));
  let built = 0;
  const load = batchLoader(({ db }, { match }) => {
    built += 1;
    const columns = { id: courses.id, slow: sql`pg_sleep(0.6)::text` };
    return db.select(columns).from(courses).where(match(courses, courses.id));
  });
  for (const reqId of ['one', 'two']) {
    const context = { db: database.unlockedFor({ provider: me.id, reqId }), providerId: me.id, settings };
    const rows = await load(context, { providerIds: [me.id], ids: [course] });
    expect(rows.map(({ id }) => id)).toEqual([course]);
  }
  expect(built).toBe(1);
  expect(reported.map(({ reqId }) => reqId)).toEqual(['one', 'two']);
});
