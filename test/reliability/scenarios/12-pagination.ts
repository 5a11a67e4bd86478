import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { pause, type Scenario, type Run } from '../scenario.ts';
import { cli } from '../support/cli.ts';
import { createClient, type HttpResponse, type Client } from '../support/client.ts';
import { temporaryFolder } from '../support/folder.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

const limit = 50;
/** Writes per second. */
const rates = { inserts: 100, deletes: 50 };

const scenario: Scenario = {
  name: 'pagination by since_id',
  quick: false,
  async run(run) {
    const count = run.quick ? 2_000 : 10_000;
    const seconds = run.quick ? 5 : 20;
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    await postgres.create('school');
    const env = { DATABASE_URL: postgres.url('school'), LOG_LEVEL: 'error', ...firstProvider };
    const server = await startServer(run, env);
    const file = join(temporaryFolder(run), 'courses.ndjson');
    const lines = Array.from({ length: count }, (_, n) => ({ kind: 'course', ref: `${n}`, title: `Course ${n}` }));
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    await cli(['import', file, '--provider', '1', '--allow', 'partners,categories'], env);
    const database = await postgres.connect('school');
    run.onCleanup(() => database.end());
    const client = createClient(firstKey);
    run.onCleanup(client.close);
    const courses = `${server.base}/v2/courses`;

    const { seen, failures } = await observeWithRetry(
      () => observe({ run, database, client, courses, seconds }),
      check,
    );
    const { added, deleted, elapsed } = seen;
    // Negative control: page numbers shift during inserts and deletes, and a log with too few writes.
    const shifted = countWrong(seen.paged, seen.untouched(seen.existing));
    const few = { ...seen, added: added.slice(1, rates.inserts * 0.9 * elapsed), deleted: new Set<number>() };
    const found = allFailures(check({ ...few, active: seen.paged, all: seen.paged }));
    return {
      figures: [
        `${seen.existing.length} rows, ${Math.round(added.length / elapsed)} inserts and ${Math.round(deleted.size / elapsed)} deletes a second for ${elapsed.toFixed(0)} s`,
        'each once, with and without deleted ones',
        `control: page numbers miss ${shifted}, ${found.length} failures detected`,
      ].join(', '),
      failures: [
        ...failures,
        ...undetected(found, 'inserts a second', 'deletes a second', 'existing rows', 'including deleted ones'),
      ],
    };
  },
};
export default scenario;

type Context = { run: Run; database: pg.Client; client: Client; courses: string; seconds: number };

/** Reads the whole list in three ways while it changes. */
async function observe({ run, database, client, courses, seconds }: Context) {
  const { rows } = await database.query<{ id: string }>('select id from courses where deleted_at is null order by id');
  const existing = rows.map(({ id }) => Number(id));
  const wrong: string[] = [];
  let late = 0;

  const added: number[] = [];
  const deleted = new Set<number>();
  const touched = new Set<number>();
  const alive = [...existing];
  let inFlight = 0;
  let isOver = false;
  /** Returns whether the write succeeded; 503 is allowed on a busy machine. */
  const isSuccess = ({ status, headers, text }: HttpResponse, expected: number) => {
    if (status === 503 && headers['retry-after'] !== undefined) late += 1;
    else if (status !== expected) wrong.push(`${status} ${text}`);
    return status === expected;
  };
  const insert = async () => {
    const response = await client.post(courses, { title: 'Added', active: false });
    if (!isSuccess(response, 201)) return;
    const { course_id } = JSON.parse(response.text) as { course_id: number };
    added.push(course_id);
    alive.push(course_id);
  };
  const remove = async () => {
    const [id] = alive.splice(Math.floor(run.random() * alive.length), 1);
    touched.add(id!);
    if (isSuccess(await client.send(`${courses}/${id}`, { method: 'DELETE' }), 200)) deleted.add(id!);
  };
  /** Starts that many writes a second until stopped. */
  const startAtRate = async (rate: number, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    for (let n = 0; !isOver; n += 1) {
      while (inFlight > 60) await pause(5);
      inFlight += 1;
      void work().finally(() => (inFlight -= 1));
      await pause(Math.max(0, startedAt + (n * 1_000) / rate - performance.now()));
    }
  };

  /** Reads page by page at an even rate, then to the end after the writes have stopped. */
  async function readPages(nextOf: (last: number, page: number) => string, more = '') {
    const seen: number[] = [];
    const pages = existing.length / limit;
    for (let page = 1; ; page += 1) {
      const response = await client.get(`${courses}?limit=${limit}&${nextOf(seen.at(-1) ?? 0, page)}${more}`);
      if (!isSuccess(response, 200)) {
        page -= 1;
        await pause(100);
        if (wrong.length > 0) return seen;
        continue;
      }
      const ids = (JSON.parse(response.text) as { id: number }[]).map(({ id }) => id);
      seen.push(...ids);
      if (isOver && inFlight === 0 && ids.length < limit) return seen;
      if (!isOver) await pause((seconds * 1_000) / pages);
      if (!isOver && ids.length < limit) await pause(100);
    }
  }
  const bySinceId = (last: number) => `since_id=${last}`;
  const byPage = (_last: number, page: number) => `page=${page}`;

  const startedAt = performance.now();
  const writing = [startAtRate(rates.inserts, insert), startAtRate(rates.deletes, remove)];
  const readers = [readPages(bySinceId), readPages(bySinceId, '&include_deleted=1'), readPages(byPage)] as const;
  await pause(seconds * 1_000 * 1.1);
  isOver = true;
  const elapsed = (performance.now() - startedAt) / 1_000;
  await Promise.all(writing);
  const [active, all, paged] = await Promise.all(readers);
  const untouched = (those: number[]) => those.filter((id) => !touched.has(id));
  return { existing, added, deleted, elapsed, late, wrong, active, all, paged, untouched };
}

/** Number of rows not seen exactly once. */
function countWrong(seen: number[], those: number[]) {
  const times = new Map<number, number>();
  for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
  return those.filter((id) => times.get(id) !== 1).length;
}

function check({
  existing,
  added,
  deleted,
  elapsed,
  late,
  wrong,
  active,
  all,
  untouched,
}: Awaited<ReturnType<typeof observe>>): Checks {
  const twice = (seen: number[]) => seen.length - new Set(seen).size;
  const none = {
    'existing rows are not read once': countWrong(active, untouched(existing)),
    'added rows are not read once': countWrong(active, untouched(added)),
    'rows are read twice': twice(active) + twice(all),
    'rows, including deleted ones, are not read once': countWrong(all, [...existing, ...added]),
  };
  const isFastEnough = (done: number, rate: number) => done / elapsed >= rate * 0.95;
  const perSecond = (done: number) => (done / elapsed).toFixed(1);
  return {
    strict: {
      ...Object.fromEntries(Object.entries(none).map(([what, rows]) => [`${rows} ${what}`, rows === 0])),
      [`no request fails, not ${wrong[0]}`]: wrong.length === 0,
    },
    timing: {
      [`${rates.inserts} inserts a second, not ${perSecond(added.length)}`]: isFastEnough(added.length, rates.inserts),
      [`${rates.deletes} deletes a second, not ${perSecond(deleted.size)}`]: isFastEnough(deleted.size, rates.deletes),
      [`no request gets 503, not ${late}`]: late === 0,
    },
  };
}
