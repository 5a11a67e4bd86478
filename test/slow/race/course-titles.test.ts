import type { InjectOptions } from 'fastify';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import {
  connectionTo,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  type Provider,
} from '../../support/test-app.ts';
import { loadUnguarded, type Unguarded } from '../../support/unguarded.ts';

type Attempt = Pick<InjectOptions, 'method' | 'url' | 'payload'>;

const titleOf = (n: number) => (n % 3 === 0 ? 'Racing' : ' RACING');
const callers = Array.from({ length: 40 }, (_, n) => n);

/** Endpoints that create a title, each with many concurrent requests. */
const races: Record<string, (me: Provider) => Promise<Attempt[]>> = {
  created: async () =>
    callers.map((n) => ({
      method: 'POST',
      url: n % 4 < 2 ? '/v2/courses' : '/courses',
      payload: { title: titleOf(n) },
    })),
  renamed: async (me) => {
    const ids = await Promise.all(callers.map(() => me.course()));
    return ids.map((id, n) => ({ method: 'PUT', url: `/v2/courses/${id}`, payload: { title: titleOf(n) } }));
  },
  activated: async (me) => {
    const ids = await Promise.all(callers.map((n) => me.course({ title: titleOf(n), active: 0 })));
    return ids.map((id) => ({ method: 'PUT', url: `/v2/courses/${id}`, payload: { active: 1 } }));
  },
};

/** Concurrent requests for one title on two servers; returns how many succeeded. */
async function winners(database: string, race: string, guarded: boolean) {
  const { buildApp, openDatabase }: Partial<Unguarded> = guarded
    ? {}
    : await loadUnguarded(['lock', 'queue', 'equalTitle']);
  const testApps = await Promise.all(
    [0, 1].map(() => openTestApp(openTestDatabase(database, { poolSize: 8 }, openDatabase), {}, buildApp)),
  );
  try {
    const me = await testApps[0]!.createProvider();
    const attempts = await races[race]!(me);
    const responses = await Promise.all(
      attempts.map((attempt, n) => send(testApps[n % 2]!.app, { ...attempt, headers: { 'x-api-key': me.apiKey } })),
    );
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
    return responses.filter(({ text }) => text.includes('course_id')).length;
  } finally {
    await Promise.all(testApps.map((testApp) => testApp.close()));
  }
}

const each = test.each(Object.keys(races));

each('of many concurrent equal titles exactly one is %s', async (race) => {
  expect(await winners(await ownDatabase(), race, true)).toBe(1);
});

each('the index alone allows only one to be %s', async (race) => {
  const database = await ownDatabase();
  await dropTriggers(database);
  expect(await winners(database, race, false)).toBe(1);
});

each('the check under the lock alone allows only one to be %s', async (race) => {
  const database = await ownDatabase();
  await execute(database, 'drop index courses_active_title');
  expect(await winners(database, race, true)).toBe(1);
});

// A race may go well by chance.
each('negative control: without lock, queue, check and index several are %s', { retry: 10 }, async (race) => {
  const database = await ownDatabase();
  await dropTriggers(database);
  await execute(database, 'drop index courses_active_title');
  expect(await winners(database, race, false)).toBeGreaterThan(1);
});

/** The triggers that reject unlocked writes would also reject the negative control. */
const dropTriggers = (database: string) => execute(database, 'drop function refuse_unlocked cascade');

async function execute(database: string, statement: string) {
  const client = new Client(connectionTo(database));
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
