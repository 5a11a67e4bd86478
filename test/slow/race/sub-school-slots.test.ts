import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { App } from '../../../src/app.ts';
import type { Database } from '../../../src/database/client.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { hashPassword } from '../../../src/domains/school/auth/password-service.ts';
import { importObjects } from '../../support/all-responses.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { limits, openTestDatabase, openTestApp, send } from '../../support/test-app.ts';

const branches = 16;

/** A school with many sub-schools and another school; one list and two writes run concurrently. */
async function openSchools() {
  const lists = { atOnce: 1, waitMs: 30_000 };
  const testApp = await openTestApp(openTestDatabase(inject('shared')), { limits: { ...limits, lists } });
  onTestFinished(testApp.close);
  const [root, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const holders = [await testApp.createProvider(), await testApp.createProvider()] as const;
  const [keys, ids] = [[] as string[], [] as number[]];
  for (let n = 0; n < branches; n += 1) {
    const response = await root.post('/schools', { ...minimalSchool, title: `Branch ${n}` });
    const { api_key, school_id } = response.json<{ api_key: string; school_id: string }>();
    keys.push(api_key);
    ids.push(Number(school_id));
  }
  return {
    ...{ app: testApp.app as unknown as App, database: testApp.database, holders },
    ...{ keys: [...keys, other.apiKey], ids: [...ids, other.id] },
  };
}

/** Promises that resolve when `open` is called. */
function newGate() {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((done) => (open = done));
  return { gate, open: () => open() };
}

/** Sends a request with each key; returns the position of the last key's response. */
async function placeOfLast(keys: string[], request: (key: string) => ReturnType<typeof send>, release: () => unknown) {
  const finished: number[] = [];
  const asking = keys.map(async (key, n) => {
    expect((await request(key)).status).toBeLessThan(300);
    finished.push(n);
  });
  await release();
  await Promise.all(asking);
  return finished.indexOf(keys.length - 1);
}

test("the lists of a school's sub-schools share its slots", async () => {
  const { app, keys, holders } = await openSchools();
  const { gate, open } = newGate();
  const limiter = app.listCache.limiter!;
  const held = limiter([], () => gate, { tenantQueueKey: holders[0].id });
  let arrived = 0;
  const counting: typeof limiter = Object.assign((...args: Parameters<typeof limiter>) => {
    arrived += 1;
    return limiter(...args);
  }, limiter);
  app.listCache.limiter = counting;
  const place = await placeOfLast(
    keys,
    (key) => send(app, { url: '/v2/locations', headers: { 'x-api-key': key } }),
    async () => {
      await expect.poll(() => arrived, { timeout: 30_000 }).toBe(keys.length);
      open();
    },
  );
  await held;
  expect(place).toBeLessThan(4);
});

test("the writes of a school's sub-schools share its slots", async () => {
  const { app, database, keys, holders } = await openSchools();
  const { gate, open } = newGate();
  const held = holders.map(({ id }) => database.write([id], allAreas, () => gate));
  let arrived = 0;
  const { withAudit } = database;
  database.withAudit = (auditContext): Database => {
    arrived += 1;
    return withAudit(auditContext);
  };
  const place = await placeOfLast(
    keys,
    (key) =>
      send(app, { method: 'POST', url: '/v2/course-tags', headers: { 'x-api-key': key }, payload: { title: 'A' } }),
    async () => {
      await expect.poll(() => arrived, { timeout: 30_000 }).toBe(keys.length);
      await nextTurn();
      open();
    },
  );
  await Promise.all(held);
  expect(place).toBeLessThan(6);
});

test("the sign-ons of a school's sub-schools share its slots", async () => {
  const { app, keys, ids } = await openSchools();
  const credentials = { username: 'kari', password: 'right one' };
  for (const id of ids) await importObjects({ id }, [{ kind: 'user', ref: 'u', ...credentials }]);
  const signOn = (key: string) =>
    send(app, {
      method: 'POST',
      url: '/v2/check-user-credentials',
      headers: { 'x-api-key': key },
      payload: credentials,
    });
  // Work without a tenant queue key runs first, so all requests wait meanwhile.
  const held = Array.from({ length: 60 }, () => hashPassword('held'));
  const place = await placeOfLast(keys, signOn, () => Promise.all(held));
  expect(place).toBeLessThan(6);
});
