import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause, type Row } from '../row.ts';
import { cli } from '../support/cli.ts';
import { clientOf } from '../support/client.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

/** A second. */
const rates = { inserts: 100, deletes: 50 };

const row: Row = {
  name: 'walk by since_id',
  quick: true,
  async run(run) {
    const count = run.quick ? 2_000 : 10_000;
    const seconds = run.quick ? 5 : 20;
    const limit = 50;
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    await postgres.create('school');
    const patience = { POOL_WAIT_MS: '20000', WRITE_WAIT_MS: '20000' };
    const env = { DATABASE_URL: postgres.url('school'), LOG_LEVEL: 'error', ...patience, ...firstProvider };
    const server = await startServer(run, env);
    const file = join(temporaryFolder(run), 'courses.ndjson');
    const lines = Array.from({ length: count }, (_, n) => ({ kind: 'course', ref: `${n}`, title: `Course ${n}` }));
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    await cli(['import', file, '--provider', '1'], env);
    const database = await postgres.connect('school');
    run.afterwards(() => database.end());
    const { rows } = await database.query<{ id: string }>('select id from courses order by id');
    const old = rows.map(({ id }) => Number(id));

    const client = clientOf(firstKey);
    run.afterwards(client.close);
    const courses = `${server.base}/v2/courses`;
    const faults: string[] = [];

    const added: number[] = [];
    const deleted = new Set<number>();
    const alive = [...old];
    let underWay = 0;
    let isOver = false;
    const insert = async () => {
      const answer = await client.post(courses, { title: 'Added', active: false });
      if (answer.status !== 201) return faults.push(`an insert is answered by ${answer.status}`);
      const { course_id } = JSON.parse(answer.text) as { course_id: number };
      added.push(course_id);
      alive.push(course_id);
    };
    const remove = async () => {
      const [id] = alive.splice(Math.floor(run.random() * alive.length), 1);
      deleted.add(id!);
      const answer = await client.ask(`${courses}/${id}`, { method: 'DELETE' });
      if (answer.status !== 200) faults.push(`a delete is answered by ${answer.status} ${answer.text}`);
    };
    /** Begins so many a second, as long as they come back. */
    const steadily = async (rate: number, work: () => Promise<unknown>) => {
      const begun = performance.now();
      for (let n = 0; !isOver; n += 1) {
        while (underWay > 60) await pause(5);
        underWay += 1;
        void work().finally(() => (underWay -= 1));
        await pause(Math.max(0, begun + (n * 1_000) / rate - performance.now()));
      }
    };

    /** What a client sees that goes from page to page, evenly for so long, and then to the end once nothing changes. */
    async function walk(nextOf: (last: number, page: number) => string, more = '') {
      const seen: number[] = [];
      const pages = count / limit;
      for (let page = 1; ; page += 1) {
        const { text } = await client.get(`${courses}?limit=${limit}&${nextOf(seen.at(-1) ?? 0, page)}${more}`);
        const ids = (JSON.parse(text) as { id: number }[]).map(({ id }) => id);
        seen.push(...ids);
        if (isOver && underWay === 0 && ids.length < limit) return seen;
        if (!isOver) await pause((seconds * 1_000) / pages);
        if (!isOver && ids.length < limit) await pause(100);
      }
    }
    const bySinceId = (last: number) => `since_id=${last}`;
    const byPage = (_last: number, page: number) => `page=${page}`;

    const writing = [steadily(rates.inserts, insert), steadily(rates.deletes, remove)];
    const walks = [walk(bySinceId), walk(bySinceId, '&include_deleted=1'), walk(byPage)] as const;
    await pause(seconds * 1_000 * 1.1);
    isOver = true;
    await Promise.all(writing);
    const [plain, whole, paged] = await Promise.all(walks);

    /** How many of those rows were seen in another number than once. */
    const missedOrTwice = (seen: number[], those: number[]) => {
      const times = new Map<number, number>();
      for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
      return those.filter((id) => times.get(id) !== 1).length;
    };
    const twice = (seen: number[]) => seen.length - new Set(seen).size;
    const stayed = (those: number[]) => those.filter((id) => !deleted.has(id));
    const checks = {
      'old rows are not seen once': missedOrTwice(plain, stayed(old)),
      'added rows are not seen once': missedOrTwice(plain, stayed(added)),
      'rows are seen twice': twice(plain) + twice(whole),
      'rows, deleted ones too, are not seen once': missedOrTwice(whole, [...old, ...added]),
    };
    for (const [what, rows] of Object.entries(checks)) if (rows > 0) faults.push(`${rows} ${what}`);
    if (added.length < seconds * 10 || deleted.size < seconds * 5)
      faults.push('too little was written beside the walk');
    // The negative control: pages by their numbers shift under who reads them.
    const shifted = missedOrTwice(paged, stayed(old));
    if (shifted === 0) faults.push('the look does not find what pages by number miss');

    return {
      figures: [
        `${count} rows, ${added.length} inserts and ${deleted.size} deletes in ${(seconds * 1.1).toFixed(0)} s`,
        `each once, with and without the deleted`,
        `control: pages by number miss ${shifted}`,
      ].join(', '),
      faults,
    };
  },
};
export default row;
