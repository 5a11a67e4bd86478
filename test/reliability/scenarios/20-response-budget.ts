import { failedChecks, type Scenario } from '../scenario.ts';
import type { Client } from '../support/client.ts';
import { inspectServer, inspectedCommand } from '../support/inspection.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import type { Postgres } from '../support/postgres.ts';

/** Milliseconds, and megabytes above a warm server's memory. */
const limits = { stall: 100, memory: 400 };
type Measurement = { stall: number; memory: number; allowed: number };

/** Adds a course with dates that have gatherings; returns the ids of the dates. */
async function addDates(
  postgres: Postgres,
  { id, courseId }: School,
  spec: { dates: number; gatherings: number; text: string },
) {
  const database = await postgres.connect('schools');
  try {
    const { rows } = await database.query<{ id: number }>(
      `with new_dates as (
        insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
        select $1, $2, '2036-01-01', '2036-01-02', '2036-01-01', 'Europe/Oslo', 'no', now(), now() from generate_series(1, $3::int)
        returning id
      ), new_gatherings as (
        insert into gatherings
          (provider_id, course_date_id, gathering_at, gathering_end_at, zone, description, created_at, updated_at)
        select $1, id, '2036-01-01 10:00', '2036-01-01 11:00', 'Europe/Oslo', $5, now(), now()
        from new_dates, generate_series(1, $4::int)
      )
      select id::int from new_dates order by id`,
      [id, courseId, spec.dates, spec.gatherings, spec.text],
    );
    await database.query('analyze gatherings');
    return rows.map((row) => row.id);
  } finally {
    await database.end();
  }
}

/** Follows `Link` to the end; returns the ids of each page. */
async function readPages(client: Client, first: string) {
  const pages: { ids: number[]; isTruncated: boolean; bytes: number }[] = [];
  for (let url: string | undefined = first; url !== undefined && pages.length < 200;) {
    const { status, headers, text } = await client.get(url, { timeoutMs: 60_000 });
    if (status !== 200) throw new Error(`${url} returned ${status} ${text.slice(0, 200)}`);
    const body = JSON.parse(text) as { coursedate_id: number }[];
    const isTruncated = headers['x-page-truncated'] === `items=${body.length}`;
    pages.push({ ids: body.map(({ coursedate_id }) => coursedate_id), isTruncated, bytes: Buffer.byteLength(text) });
    const next = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1];
    // The public URL differs from the address of the server.
    url = next && new URL(new URL(next).pathname + new URL(next).search, first).href;
  }
  return pages;
}

/** Ratio of elapsed to CPU time of a computation, since other processes use the CPUs as well. */
function slowdown() {
  const [startedAt, used] = [performance.now(), process.cpuUsage()];
  const cpu = () => process.cpuUsage(used).user / 1_000;
  while (cpu() < 100);
  return Math.max(1, (performance.now() - startedAt) / cpu());
}

/** The shortest stall of several reads, with more reads if it is too long; `allowed` grows with the machine's load. */
async function measure(
  server: Server,
  read: () => Promise<unknown>,
  { minReads = 2, maxReads = 6 } = {},
): Promise<Measurement> {
  const measurements: Measurement[] = [];
  let allowed = limits.stall;
  const shortest = () => Math.min(...measurements.map(({ stall }) => stall));
  while (measurements.length < minReads || (measurements.length < maxReads && shortest() >= allowed)) {
    await inspectServer(server);
    await read();
    const { stall, memory } = await inspectServer(server);
    measurements.push({ stall, memory, allowed });
    allowed = Math.max(allowed, limits.stall * slowdown());
  }
  return { stall: shortest(), memory: Math.max(...measurements.map((one) => one.memory)), allowed };
}

const scenario: Scenario = {
  name: 'response budget',
  quick: false,
  async run(run) {
    const { env, all, postgres } = await createSchools(run, { count: 2, parameters: { fsync: 'off' } });
    const [many, large] = all as [School, School];
    const spec = run.quick ? { dates: 60, gatherings: 1_000 } : { dates: 240, gatherings: 1_000 };
    const ids = [...many.dateIds, ...(await addDates(postgres, many, { ...spec, text: 'x'.repeat(100) }))];
    // About 15 MB of JSON, just below the response limit, and one larger item.
    const [fits] = await addDates(postgres, large, { dates: 1, gatherings: 30_000, text: 'æ"'.repeat(35) });
    const [exceeds] = await addDates(postgres, large, { dates: 1, gatherings: 50_001, text: '' });
    const server = await startServer(run, { ...env, LOG_LEVEL: 'warn' }, { command: inspectedCommand });
    const { base } = server;
    const listUrl = (at: string) => `${at}/v2/courses/${many.courseId}/coursedates?limit=250`;
    const itemUrl = (id: number) => `${base}/v2/courses/${large.courseId}/coursedates/${id}?include[]=gatherings`;

    // Warms up memory and JIT compilation.
    for (let n = 0; n < 1; n += 1) await readPages(many.client, listUrl(base));
    const { resident } = await inspectServer(server);
    const pages = await readPages(many.client, listUrl(base));
    const list = await measure(server, () => many.client.get(listUrl(base)));
    const item = await measure(server, () => large.client.get(itemUrl(fits!)));
    const refusal = await large.client.get(itemUrl(exceeds!));
    const refused = await measure(server, () => large.client.get(itemUrl(exceeds!)));
    const whole = await large.client.get(itemUrl(fits!));
    const atOnce = await measure(
      server,
      () => Promise.all(Array.from({ length: 8 }, (_, n) => large.client.get(`${listUrl(base)}&since_id=${n}`))),
      { minReads: 1, maxReads: 1 },
    );

    const command = [
      ...inspectedCommand.slice(0, 3),
      '--import',
      'tsx',
      'test/reliability/support/unbounded-server.ts',
    ];
    const withoutBudget = await startServer(run, { ...env, LOG_LEVEL: 'error' }, { command });
    const before = await inspectServer(withoutBudget);
    const unbounded = await measure(
      withoutBudget,
      () => many.client.get(listUrl(withoutBudget.base), { timeoutMs: 60_000 }),
      {
        maxReads: 2,
      },
    );
    const [controlPage] = await readPages(many.client, listUrl(withoutBudget.base));

    const memory = Math.max(list.memory, item.memory, refused.memory, atOnce.memory) - resident;
    const found = pages.flatMap((page) => page.ids);
    const ms = Math.round;
    const failures = failedChecks({
      'the pages contain every date once': JSON.stringify(found) === JSON.stringify(ids),
      'every page but the last has the truncation header': pages.every(
        ({ isTruncated }, n) => isTruncated === n < pages.length - 1,
      ),
      'no page is larger than 16 MB': pages.every(({ bytes }) => bytes <= 16_010_000),
      'an item within the budget is returned in full': whole.status === 200 && whole.text.length > 10_000_000,
      'a too large item is rejected with advice': refusal.status === 400 && /Leave out include/.test(refusal.text),
      [`memory grows by ${ms(memory)} MB at maxReads`]: memory < limits.memory,
      ...Object.fromEntries(
        Object.entries({ list, item, refused }).map(([name, { stall, allowed }]) => [
          `${name} stalls ${ms(stall)} ms, at most ${ms(allowed)} ms allowed`,
          stall < allowed,
        ]),
      ),
      'control: without a budget a page contains all': controlPage!.ids.length === ids.length,
      'control: without a budget a stall or the memory is detected':
        (unbounded.stall > 2 * list.stall && unbounded.stall > limits.stall) ||
        unbounded.memory - before.resident > limits.memory,
    });
    return {
      figures: [
        `${ids.length} dates of ${spec.gatherings} gatherings on ${pages.length} pages`,
        `stall ${ms(list.stall)} ms for a page, ${ms(item.stall)} ms for an item of ${(Buffer.byteLength(whole.text) / 1e6).toFixed(1)} MB, ${ms(refused.stall)} ms for a too large one, allowed ${ms(item.allowed)} ms`,
        `memory +${ms(memory)} MB of ${ms(resident)} MB`,
        `control: one page, stall ${ms(unbounded.stall)} ms, memory +${ms(unbounded.memory - before.resident)} MB`,
      ].join(', '),
      failures,
    };
  },
};
export default scenario;
