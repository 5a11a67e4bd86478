import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startServers } from '../../support/servers.ts';

const writers = 16;
/** `RACE_ROWS=20000` uses more rows; the assertions are the same. */
const rows = Number(process.env['RACE_ROWS'] ?? 480);
const timeout = Math.max(120_000, rows * 30);

type Options = { rows: number; resume?: 'header' | 'largest' };

/**
 * Sixteen writers create and change courses on two servers while one client reads by `since_id` and another syncs by
 * `updated_at_min`; returns the rows that each missed.
 */
async function readWhileWriting(
  servers: Awaited<ReturnType<typeof startServers>>,
  { rows, resume = 'header' }: Options,
) {
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
        if (page === 1 && resume === 'header') next = String(headers['x-updated-through']);
        for (const { id, reference, updated_at: at } of body) {
          copy.set(id, reference);
          if (resume === 'largest' && at > next) next = at;
        }
        length = body.length;
        // In the control, so that changes fall between two pages.
        if (resume === 'largest') await sleep(40);
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
  expect(await readWhileWriting(servers, { rows })).toEqual({ errors: [], there: rows, missed: 0, stale: 0 });
});

test('negative control: without the lock paging misses courses', { timeout: 240_000 }, async () => {
  const servers = await startServers({ unlocked: true });
  let missedCourses = 0;
  // A miss depends on chance: a page read between two commits in the opposite order of their ids.
  for (let attempt = 0; attempt < 10 && missedCourses === 0; attempt += 1) {
    const { missed } = await readWhileWriting(servers, { rows: 160 });
    missedCourses += missed;
  }
  expect(missedCourses).toBeGreaterThan(0);
});

test('negative control: resuming from the largest updated_at misses changes', { timeout: 240_000 }, async () => {
  const servers = await startServers();
  let missedChanges = 0;
  // A miss depends on chance: a change between two pages of one sync.
  for (let attempt = 0; attempt < 10 && missedChanges === 0; attempt += 1) {
    const { missed, stale } = await readWhileWriting(servers, { rows: 480, resume: 'largest' });
    expect(missed).toBe(0);
    missedChanges += stale;
  }
  expect(missedChanges).toBeGreaterThan(0);
});
