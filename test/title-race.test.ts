import { Client } from 'pg';
import { expect, test } from 'vitest';
import { allGuards } from '../src/core/context.ts';
import { connectionTo, openTestDatabase, openWorld, ownDatabase, send } from './support/world.ts';

/** Posts one title from many callers at once, to two servers on one database; how many created a course. */
async function winners(database: string, guarded: boolean) {
  const locking = { lock: guarded, queue: guarded };
  const guards = guarded ? allGuards : { ...allGuards, equalTitle: false };
  const worlds = await Promise.all(
    [0, 1].map(() => openWorld(openTestDatabase(database, { locking, poolSize: 8 }), { guards })),
  );
  try {
    const me = await worlds[0]!.newProvider();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        send(worlds[n % 2]!.app, {
          method: 'POST',
          url: n % 4 < 2 ? '/v2/courses' : '/courses',
          headers: { 'x-api-key': me.apiKey },
          payload: { title: n % 3 === 0 ? 'Racing' : ' RACING' },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    return answers.filter(({ text }) => text.includes('course_id')).length;
  } finally {
    await Promise.all(worlds.map((world) => world.close()));
  }
}

test('of many equal titles at once exactly one is created', async () => {
  expect(await winners(await ownDatabase(), true)).toBe(1);
});

test('the index alone lets only one win', async () => {
  const database = await ownDatabase();
  await dropTriggers(database);
  expect(await winners(database, false)).toBe(1);
});

test('negative control: without lock, queue, check and index several win', async () => {
  const database = await ownDatabase();
  await dropTriggers(database);
  await execute(database, 'drop index courses_active_title');
  expect(await winners(database, false)).toBeGreaterThan(1);
});

/** The triggers that refuse an unlocked write would refuse the negative control. */
const dropTriggers = (database: string) => execute(database, 'drop function refuse_unlocked cascade');

async function execute(database: string, statement: string) {
  const client = new Client(connectionTo(database));
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
