import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { markDelivered, markFailed } from '../../../src/plugins/delivery/webhooks/sql.ts';
import { wakeupsJob } from '../../../src/plugins/delivery/webhooks/deliveries.ts';
import { execute } from '../../support/booking.ts';
import { createGate } from '../../support/gate.ts';
import { connectionTo, type Provider } from '../../support/test-app.ts';
import {
  countStatements,
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
  waitForClaim,
} from '../../support/webhooks.ts';

type WebhookTestApp = Awaited<ReturnType<typeof openWebhookTestApp>>;

const hook = async (me: Provider, host: string) =>
  (await createWebhook(me, { url: `http://${host}.example:65535/`, payload: 'thin' })).id;
const hooks = async (me: Provider, hosts: string[]) => {
  const ids: number[] = [];
  for (const host of hosts) ids.push(await hook(me, host));
  return ids;
};
/** Ids of the webhooks that a claim leases. */
async function claim({ database }: WebhookTestApp, slots = 32, failingSlots = 16, slowSlots = 8) {
  const text = 'select id::int as id, leased_by from claim_webhooks($1, $2, $3, 30) order by id';
  const values = [slots, failingSlots, slowSlots];
  const { rows } = await database.pool.query<{ id: number; leased_by: string }>(text, values);
  return rows;
}
const claimedIds = async (...args: Parameters<typeof claim>) => (await claim(...args)).map(({ id }) => id);

test('webhooks that wait for a slow host do not hold back one of the school on another host', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const slow = await hooks(me, Array<string>(8).fill('slow'));
  await createTag(me, 'One');
  expect(await claimedIds(testApp)).toEqual(slow.slice(0, 2));
  const other = await hook(me, 'other');
  await createTag(me, 'Two');
  expect(await claimedIds(testApp)).toEqual([other]);
});

test('webhooks that wait for hosts in use do not hold back one of the school on a free host', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const other = await testApp.createProvider();
  const hosts = ['a', 'b', 'c'];
  for (const school of [me, other]) {
    await hooks(school, hosts);
    await createTag(school, 'One');
  }
  expect(await claimedIds(testApp)).toHaveLength(6);
  await hooks(me, hosts);
  const free = await hook(me, 'free');
  await createTag(me, 'Two');
  expect(await claimedIds(testApp)).toEqual([free]);
});

test('a school gets a place on a host that other schools use, and only one while they do', async () => {
  const testApp = await openWebhookTestApp();
  const many = await testApp.createProvider();
  const ids = await hooks(many, Array<string>(4).fill('shared'));
  await createTag(many, 'One');
  expect(await claimedIds(testApp)).toEqual(ids.slice(0, 2));
  for (const me of [await testApp.createProvider(), await testApp.createProvider()]) {
    const [first] = await hooks(me, ['shared', 'shared']);
    await createTag(me, 'One');
    expect(await claimedIds(testApp)).toEqual([first]);
  }
  // One of two places is free, but others use the host.
  await execute(testApp.name, `update webhooks set leased_until = null where id = ${ids[0]!}`);
  expect(await claimedIds(testApp)).toEqual([]);
});

test('a school uses fewer places than it leaves to others', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const ids = await hooks(me, ['a', 'b', 'c', 'd', 'e']);
  await createTag(me, 'One');
  expect(await claimedIds(testApp, 4)).toEqual(ids.slice(0, 2));
  const other = await testApp.createProvider();
  const [first, second] = await hooks(other, ['v', 'w', 'x']);
  await createTag(other, 'One');
  expect(await claimedIds(testApp, 1)).toEqual([first]);
  expect(await claimedIds(testApp, 2)).toEqual([second]);
});

test("each school's first webhook is before the second of any, whatever their hosts are", async () => {
  const testApp = await openWebhookTestApp();
  const schools = [await testApp.createProvider(), await testApp.createProvider(), await testApp.createProvider()];
  const firsts: number[] = [];
  for (const [n, me] of schools.entries()) {
    const [first] = await hooks(me, [`a${n}`, `b${n}`, `c${n}`]);
    firsts.push(first!);
    await createTag(me, 'One');
  }
  expect(await claimedIds(testApp, 3)).toEqual(firsts);
});

test('slow webhooks have places of their own', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const [slow, quick] = await hooks(me, ['slow', 'quick']);
  await createTag(me, 'One');
  await execute(testApp.name, `update webhooks set slow_attempts = 3, failing_since = now() where id = ${slow!}`);
  expect(await claimedIds(testApp, 32, 16, 0)).toEqual([quick]);
  expect(await claimedIds(testApp, 0, 0, 1)).toEqual([slow]);
});

test('a webhook is slow from its third attempt over five seconds, and quick attempts are subtracted', async () => {
  const testApp = await openWebhookTestApp();
  const { pool } = testApp.database;
  const me = await testApp.createProvider();
  const id = await hook(me, 'a');
  let attempts = 0;
  const slowAfter = async (durationMs: number, { isFailure = false } = {}) => {
    await createTag(me, `Attempt ${(attempts += 1)}`);
    await pool.query(`update webhooks set due_at = now(), failing_since = null where id = $1`, [id]);
    const [claimed] = await claim(testApp);
    const { rows } = await pool.query<{ changed_at: string; position: number; clock: number }>(
      `select updated_at::text as changed_at, (select max(id) from events) as position, position_clock as clock
       from webhooks where id = $1`,
      [id],
    );
    const attempt = {
      ...{ providerId: me.id, id, token: claimed!.leased_by, messageId: 'message', type: 'tag.created', durationMs },
      ...(isFailure ? { statusCode: 500, error: 'Status 500' } : { statusCode: 204, error: null }),
    };
    const { unlocked } = testApp.database;
    const { changed_at: updatedAt, position, clock: positionClock } = rows[0]!;
    if (isFailure) await markFailed(unlocked, { ...attempt, pause: 1, updatedAt });
    else await markDelivered(unlocked, { ...attempt, position, positionClock, resyncs: [] });
    await pool.query('update webhooks set leased_by = null, leased_until = null where id = $1', [id]);
    const slow = await pool.query<{ isSlow: boolean }>('select slow_attempts >= 3 as "isSlow" from webhooks');
    return slow.rows[0]!.isSlow;
  };
  expect([await slowAfter(5_001), await slowAfter(5_000), await slowAfter(9_000)]).toEqual([false, false, false]);
  expect(await slowAfter(9_000, { isFailure: true })).toBe(false);
  expect(await slowAfter(6_000)).toBe(true);
  expect(await slowAfter(20)).toBe(false);
  // Four quick attempts are enough after any number of slow ones.
  for (let n = 0; n < 9; n += 1) await slowAfter(9_000);
  const quick: boolean[] = [];
  for (let n = 0; n < 4; n += 1) quick.push(await slowAfter(20));
  expect(quick).toEqual([true, true, true, false]);
});

test('a webhook without waiting messages is not examined again before the next event', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const id = await hook(me, 'a');
  const waiting = async () => {
    const { rows } = await testApp.database.pool.query<{ is_waiting: boolean }>('select is_waiting from webhooks');
    return rows[0]!.is_waiting;
  };
  expect(await claimedIds(testApp)).toEqual([]);
  expect(await waiting()).toBe(false);
  await createTag(me, 'One');
  expect(await claimedIds(testApp)).toEqual([id]);
  expect(await waiting()).toBe(true);
});

test('an event whose transaction commits after a claim has looked is not missed', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const id = await hook(me, 'a');
  const writer = new Client(connectionTo(testApp.name));
  await writer.connect();
  const insert = `insert into events (provider_id, at, resource, change, resource_id) values (${me.id}, now(), 'tag', 'created', 1)`;
  await writer.query(`begin; ${insert}`);
  await createTag(me, 'One');
  await execute(testApp.name, `update webhooks set position = (select max(id) from events)`);
  // Deletes the row of the committed transaction alone.
  expect(await claimedIds(testApp)).toEqual([]);
  await writer.query(`${insert}; commit`);
  await writer.end();
  expect(await claimedIds(testApp)).toEqual([id]);
});

test('a job bounds the rows that webhooks wait for where no process sends messages', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const id = await hook(me, 'a');
  expect(await claimedIds(testApp)).toEqual([]);
  await createTag(me, 'One');
  await createTag(me, 'Two');
  const count = () => testApp.database.pool.query('select from webhook_wakeups').then(({ rowCount }) => rowCount);
  expect(await count()).toBe(2);
  await wakeupsJob(testApp.database).run(new AbortController().signal);
  expect(await count()).toBe(0);
  expect(await claimedIds(testApp)).toEqual([id]);
});

test('eight webhooks of one host take turns', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const ids = await hooks(me, Array<string>(8).fill('shared'));
  await createTag(me, 'One');
  const turns: number[][] = [];
  for (let turn = 1; turn <= 8; turn += 1) {
    turns.push(await claimedIds(testApp));
    const release = 'set due_at = clock_timestamp(), leased_by = null, leased_until = null';
    await execute(testApp.name, `update webhooks ${release} where leased_by is not null`);
  }
  const pairs = [0, 2, 4, 6].map((n) => ids.slice(n, n + 2));
  expect(turns).toEqual([...pairs, ...pairs]);
});

test('a school that has all its leases holds back no other school on a host', async () => {
  const testApp = await openWebhookTestApp();
  const full = await testApp.createProvider();
  const eight = await hooks(full, ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']);
  await createTag(full, 'One');
  expect(await claimedIds(testApp)).toEqual(eight);
  const waiting = await hooks(full, ['shared', 'shared']);
  const other = await testApp.createProvider();
  const free = await hook(other, 'shared');
  for (const me of [full, other]) await createTag(me, 'Two');
  expect(await claimedIds(testApp)).toEqual([free]);
  // Control: theirs are due.
  await execute(testApp.name, `update webhooks set leased_until = null, is_active = false where id = ${eight[0]!}`);
  expect(await claimedIds(testApp)).toEqual([waiting[0]]);
});

test("on a host each school's first webhook is before the second of any", async () => {
  const testApp = await openWebhookTestApp();
  const many = await testApp.createProvider();
  const [first] = await hooks(many, Array<string>(5).fill('shared'));
  const other = await testApp.createProvider();
  const one = await hook(other, 'shared');
  for (const me of [many, other]) await createTag(me, 'One');
  expect(await claimedIds(testApp)).toEqual([first, one]);
});

test('failing webhooks get no more places than they may', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const ids = await hooks(me, ['a', 'b', 'c', 'd']);
  await createTag(me, 'One');
  const failing = ids.slice(0, 3).join();
  await execute(testApp.name, `update webhooks set failing_since = now(), attempts = 1 where id in (${failing})`);
  expect(await claimedIds(testApp, 4, 1)).toEqual([ids[0], ids[3]]);
});

test('a process uses at most half of its places for failing webhooks', async () => {
  const testApp = await openWebhookTestApp();
  let [open, most] = [0, 0];
  const { opened: answered, open: answer } = createGate();
  const hanging = await startReceiver(async () => {
    most = Math.max(most, (open += 1));
    await answered;
    open -= 1;
    return 500;
  });
  for (let school = 1; school <= 10; school += 1) {
    const me = await testApp.createProvider();
    for (const name of ['a', 'b'])
      await createWebhook(me, { url: `http://${name}.example:${hanging.port}/`, payload: 'thin' });
    await createTag(me, 'One');
  }
  await execute(testApp.name, 'update webhooks set failing_since = now(), attempts = 1');
  const counted = countStatements(testApp);
  startWebhookWorker(counted, { retries: [0] });
  // The shares of hosts and schools leave one place of the half free.
  await expect.poll(() => open).toBeGreaterThanOrEqual(15);
  await waitForClaim(counted);
  const leased = await testApp.database.pool.query('select from webhooks where leased_by is not null');
  expect(leased.rowCount).toBeLessThanOrEqual(16);
  answer();
  await expect.poll(() => hanging.received.length).toBeGreaterThan(40);
  // Of the 20 that wait.
  expect(most).toBeLessThanOrEqual(16);
});

test('each claim has a token of its own', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  await hooks(me, ['a', 'b']);
  await createTag(me, 'One');
  const tokens = (await claim(testApp)).map(({ leased_by }) => leased_by);
  await execute(testApp.name, 'update webhooks set leased_until = null');
  tokens.push(...(await claim(testApp)).map(({ leased_by }) => leased_by));
  expect(new Set(tokens).size).toBe(4);
});

test('a claim returns nothing while another one runs', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const id = await hook(me, 'a');
  await createTag(me, 'One');
  const other = new Client(connectionTo(testApp.name));
  await other.connect();
  await other.query('begin; select pg_advisory_xact_lock(7291543020)');
  expect(await claimedIds(testApp)).toEqual([]);
  await other.query('commit');
  await other.end();
  expect(await claimedIds(testApp)).toEqual([id]);
});

test('a webhook that is switched off while a claim runs is not leased', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const [first, second] = await hooks(me, ['a', 'b']);
  await createTag(me, 'One');
  await execute(
    testApp.name,
    `create function pause() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
      create trigger pause before update on webhooks for each row when (new.id = ${first!}) execute function pause()`,
  );
  onTestFinished(() => execute(testApp.name, 'drop function pause cascade'));
  const holder = new Client(connectionTo(testApp.name));
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('select pg_advisory_lock(1)');
  const claimed = claimedIds(testApp);
  const waiting = `select from pg_locks where not granted and locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(1);
  expect((await me.put(`/v2/webhooks/${second!}`, { is_active: false })).status).toBe(200);
  await holder.query('select pg_advisory_unlock(1)');
  expect(await claimed).toEqual([first]);
});

test('an attempt whose lease was lost and taken again by its process moves nothing', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const answers: ((status: number) => void)[] = [];
  const receiver = await startReceiver((_message, n) =>
    n > 2 ? 204 : new Promise<number>((resolve) => answers.push(resolve)),
  );
  await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  const counted = countStatements(testApp);
  const { stop } = startWebhookWorker(counted, { renewMs: 60_000 });
  await expect.poll(() => receiver.received.length).toBe(1);
  await createTag(me, 'Two');
  // Another process delivers both after the lease has ended.
  await execute(
    testApp.name,
    `update webhooks w set (position, position_clock) =
        (select id, extract(epoch from at) * 1000000 from events e where e.provider_id = w.provider_id order by id desc limit 1),
      leased_by = null, leased_until = null`,
  );
  await createTag(me, 'Three');
  await expect.poll(() => receiver.received.length).toBe(2);
  const tried = counted.waitForMore('mark_webhook_delivered', 1);
  answers[0]!(204);
  await tried;
  await waitForClaim(counted);
  answers[1]!(204);
  await createTag(me, 'Four');
  await expect.poll(() => receiver.received.length).toBe(3);
  await waitForClaim(counted);
  await stop();
  const titles = receiver.received.map(({ body }) => (body.data['item'] as { title: string }).title);
  expect(titles).toEqual(['One', 'Three', 'Four']);
});
