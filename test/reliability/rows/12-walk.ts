import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { pause, type Row, type Run } from '../row.ts';
import { cli } from '../support/cli.ts';
import { clientOf, type Answer, type Client } from '../support/client.ts';
import { temporaryFolder } from '../support/folder.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

const limit = 50;
/** Per second. */
const rates = { inserts: 100, deletes: 50 };

const row: Row = {
  name: 'walk by since_id',
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
    run.afterwards(() => database.end());
    const client = clientOf(firstKey);
    run.afterwards(client.close);
    const courses = `${server.base}/v2/courses`;

    const { seen, faults } = await twiceIfLate(() => look({ run, database, client, courses, seconds }), judge);
    const { added, deleted, took } = seen;
    // Negative control: page numbers shift during inserts and deletes, and a log with too few writes.
    const shifted = missedOrTwice(seen.paged, seen.stayed(seen.old));
    const few = { ...seen, added: added.slice(1, rates.inserts * 0.9 * took), deleted: new Set<number>() };
    const found = allFaultsOf(judge({ ...few, plain: seen.paged, whole: seen.paged }));
    return {
      figures: [
        `${seen.old.length} rows, ${Math.round(added.length / took)} inserts and ${Math.round(deleted.size / took)} deletes a second for ${took.toFixed(0)} s`,
        `each once, with and without the deleted`,
        `control: pages by number miss ${shifted}, ${found.length} faults found`,
      ].join(', '),
      faults: [
        ...faults,
        ...overlookedBy(found, 'inserts a second', 'deletes a second', 'old rows', 'deleted ones too'),
      ],
    };
  },
};
export default row;

type Looking = { run: Run; database: pg.Client; client: Client; courses: string; seconds: number };

/** Reads the whole list in three ways while it changes. */
async function look({ run, database, client, courses, seconds }: Looking) {
  const { rows } = await database.query<{ id: string }>('select id from courses where deleted_at is null order by id');
  const old = rows.map(({ id }) => Number(id));
  const wrong: string[] = [];
  let late = 0;

  const added: number[] = [];
  const deleted = new Set<number>();
  const touched = new Set<number>();
  const alive = [...old];
  let underWay = 0;
  let isOver = false;
  /** Returns whether the write succeeded; 503 is allowed on a busy machine. */
  const isDone = ({ status, headers, text }: Answer, wanted: number) => {
    if (status === 503 && headers['retry-after'] !== undefined) late += 1;
    else if (status !== wanted) wrong.push(`one is answered by ${status} ${text}`);
    return status === wanted;
  };
  const insert = async () => {
    const answer = await client.post(courses, { title: 'Added', active: false });
    if (!isDone(answer, 201)) return;
    const { course_id } = JSON.parse(answer.text) as { course_id: number };
    added.push(course_id);
    alive.push(course_id);
  };
  const remove = async () => {
    const [id] = alive.splice(Math.floor(run.random() * alive.length), 1);
    touched.add(id!);
    if (isDone(await client.ask(`${courses}/${id}`, { method: 'DELETE' }), 200)) deleted.add(id!);
  };
  /** Starts that many writes a second until stopped. */
  const steadily = async (rate: number, work: () => Promise<unknown>) => {
    const begun = performance.now();
    for (let n = 0; !isOver; n += 1) {
      while (underWay > 60) await pause(5);
      underWay += 1;
      void work().finally(() => (underWay -= 1));
      await pause(Math.max(0, begun + (n * 1_000) / rate - performance.now()));
    }
  };

  /** Reads page by page at an even rate, then to the end after the writes have stopped. */
  async function walk(nextOf: (last: number, page: number) => string, more = '') {
    const seen: number[] = [];
    const pages = old.length / limit;
    for (let page = 1; ; page += 1) {
      const answer = await client.get(`${courses}?limit=${limit}&${nextOf(seen.at(-1) ?? 0, page)}${more}`);
      if (!isDone(answer, 200)) {
        page -= 1;
        await pause(100);
        if (wrong.length > 0) return seen;
        continue;
      }
      const ids = (JSON.parse(answer.text) as { id: number }[]).map(({ id }) => id);
      seen.push(...ids);
      if (isOver && underWay === 0 && ids.length < limit) return seen;
      if (!isOver) await pause((seconds * 1_000) / pages);
      if (!isOver && ids.length < limit) await pause(100);
    }
  }
  const bySinceId = (last: number) => `since_id=${last}`;
  const byPage = (_last: number, page: number) => `page=${page}`;

  const begun = performance.now();
  const writing = [steadily(rates.inserts, insert), steadily(rates.deletes, remove)];
  const walks = [walk(bySinceId), walk(bySinceId, '&include_deleted=1'), walk(byPage)] as const;
  await pause(seconds * 1_000 * 1.1);
  isOver = true;
  const took = (performance.now() - begun) / 1_000;
  await Promise.all(writing);
  const [plain, whole, paged] = await Promise.all(walks);
  const stayed = (those: number[]) => those.filter((id) => !touched.has(id));
  return { old, added, deleted, took, late, wrong, plain, whole, paged, stayed };
}

/** Number of rows not seen exactly once. */
function missedOrTwice(seen: number[], those: number[]) {
  const times = new Map<number, number>();
  for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
  return those.filter((id) => times.get(id) !== 1).length;
}

function judge({
  old,
  added,
  deleted,
  took,
  late,
  wrong,
  plain,
  whole,
  stayed,
}: Awaited<ReturnType<typeof look>>): Checks {
  const twice = (seen: number[]) => seen.length - new Set(seen).size;
  const none = {
    'old rows are not seen once': missedOrTwice(plain, stayed(old)),
    'added rows are not seen once': missedOrTwice(plain, stayed(added)),
    'rows are seen twice': twice(plain) + twice(whole),
    'rows, deleted ones too, are not seen once': missedOrTwice(whole, [...old, ...added]),
  };
  const isAsFast = (done: number, rate: number) => done / took >= rate * 0.95;
  const perSecond = (done: number) => (done / took).toFixed(1);
  return {
    right: {
      ...Object.fromEntries(Object.entries(none).map(([what, rows]) => [`${rows} ${what}`, rows === 0])),
      [`none fails, not ${wrong[0]}`]: wrong.length === 0,
    },
    inTime: {
      [`${rates.inserts} inserts a second, not ${perSecond(added.length)}`]: isAsFast(added.length, rates.inserts),
      [`${rates.deletes} deletes a second, not ${perSecond(deleted.size)}`]: isAsFast(deleted.size, rates.deletes),
      [`none finds no turn in time, not ${late}`]: late === 0,
    },
  };
}
