import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { startServers, type Caller } from '../../support/servers.ts';
import { connectionTo } from '../../support/test-app.ts';

const writers = 16;
/** `RACE_ROWS=20000` uses more rows; the assertions are the same. */
const rows = Number(process.env['RACE_ROWS'] ?? 480);
const timeout = Math.max(120_000, rows * 30);

/**
 * Sixteen writers create and change courses on two servers while one client reads by `since_id` and another syncs by
 * `updated_at_min`; returns the rows that each missed.
 */
async function readWhileWriting(servers: Awaited<ReturnType<typeof startServers>>, rows: number) {
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  let writing = true;
  const errors: unknown[] = [];
  const created: number[] = [];

  const write = async (writer: number) => {
    for (let n = 0; n < rows / writers; n += 1) {
      // Translations delay the commit after the id is assigned; without them it follows immediately.
      const translations = n % 2 === 0 ? { en: { lead: 'In English' } } : undefined;
      const response = await call('POST', '/v2/courses', { title: `W${writer} ${n}`, translations });
      if (response.status !== 201) errors.push(response);
      else created.push(response.body.course_id);
      // Older ones change once more, so that a copy can become stale.
      const older = created[Math.floor((created.length * ((n * 7) % 10)) / 10)];
      if (n % 4 === 0) await call('PUT', `/v2/courses/${older}`, { reference: `changed ${writer} ${n}` });
    }
  };

  const readIds = new Set<number>();
  const readAllPages = async () => {
    for (let since = 0; ;) {
      const last = !writing;
      const { body } = await call('GET', `/v2/courses?since_id=${since}&limit=250`);
      for (const { id } of body) readIds.add(id);
      since = body.at(-1)?.id ?? since;
      if (body.length === 0 && last) return;
      await sleep(2);
    }
  };

  const copy = new Map<number, string | null>();
  const sync = async () => {
    for (let from = '2000-01-01'; ;) {
      const last = !writing;
      let next = from;
      for (let page = 1, length = 25; length === 25; page += 1) {
        const query = `limit=25&page=${page}&updated_at_min=${encodeURIComponent(from)}`;
        const { body, headers } = await call('GET', `/v2/courses?${query}`);
        if (page === 1) next = String(headers['x-updated-through']);
        for (const { id, reference } of body) copy.set(id, reference);
        length = body.length;
      }
      from = next;
      if (last) return;
      await sleep(2);
    }
  };

  const clients = [readAllPages(), sync()];
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  writing = false;
  await Promise.all(clients);

  type Course = { id: number; reference: string | null };
  const { rows: there } = await servers.database.pool.query<Course>(
    'select id, reference from courses where provider_id = $1',
    [me.id],
  );
  return {
    errors,
    there: there.length,
    missed: there.filter(({ id }) => !readIds.has(id)).length,
    stale: there.filter(({ id, reference }) => copy.get(id) !== reference).length,
  };
}

test(`while 16 writers make ${rows} courses, paging and a sync miss none`, { timeout }, async () => {
  const servers = await startServers();
  expect(await readWhileWriting(servers, rows)).toEqual({ errors: [], there: rows, missed: 0, stale: 0 });
});

/** One course waits between its id and its commit while another is created; returns the ids that a client read. */
async function readBetweenCommits({ unlocked = false } = {}) {
  const servers = await startServers({ unlocked });
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const blocker = new Client(connectionTo(servers.name));
  await blocker.connect();
  await blocker.query('begin; lock table course_translations in share mode');
  const first = call('POST', '/v2/courses', { title: 'First', translations: { en: { lead: 'In English' } } });
  const waiting = `select 1 from pg_locks where relation = 'course_translations'::regclass and not granted`;
  await expect.poll(async () => (await servers.database.pool.query(waiting)).rowCount).toBe(1);
  const second = call('POST', '/v2/courses', { title: 'Second' });
  // With the lock the second one waits for the first.
  await (unlocked ? second : Promise.race([second, sleep(1_000)]));
  const read = await readIdsAfter(call, 0);
  await blocker.query('rollback');
  await blocker.end();
  const created = [(await first).body.course_id as number, (await second).body.course_id as number];
  return { created, read: [...read, ...(await readIdsAfter(call, read.at(-1) ?? 0))] };
}

const readIdsAfter = async (call: Caller, id: number) =>
  (await call('GET', `/v2/courses?since_id=${id}`)).body.map(({ id }: { id: number }) => id) as number[];

test('a course that commits late keeps its place in the order of ids', async () => {
  const { created, read } = await readBetweenCommits();
  expect(read).toEqual(created);
});

test('negative control: without the lock paging misses a course that commits late', async () => {
  const { created, read } = await readBetweenCommits({ unlocked: true });
  expect(read).toEqual([created[1]]);
});

test('negative control: resuming from the largest updated_at misses a change between two pages', async () => {
  const servers = await startServers();
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const ids: number[] = [];
  for (let n = 0; n < 4; n += 1) ids.push((await call('POST', '/v2/courses', { title: `C${n}` })).body.course_id);
  const sync = (from: string, page: number) =>
    call('GET', `/v2/courses?limit=2&page=${page}&updated_at_min=${encodeURIComponent(from)}`);
  const first = await sync('2000-01-01', 1);
  await call('PUT', `/v2/courses/${ids[0]}`, { reference: 'changed' });
  // The format of updated_at has seconds.
  await sleep(1_100);
  await call('PUT', `/v2/courses/${ids[3]}`, { reference: 'changed' });
  const second = await sync('2000-01-01', 2);
  const largest = [...first.body, ...second.body].map(({ updated_at }) => String(updated_at)).sort();
  const idsFrom = async (from: string) => (await sync(from, 1)).body.map(({ id }: { id: number }) => id);
  expect(await idsFrom(largest.at(-1)!)).not.toContain(ids[0]);
  expect(await idsFrom(String(first.headers['x-updated-through']))).toContain(ids[0]);
});
