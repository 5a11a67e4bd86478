import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureBooking } from './booking.ts';
import { listCases } from './cases.ts';
import { columnsOf, percent, round, spentBy } from './cost.ts';
import { withDatabase, type Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { coldShares, report, warmTimes, type Goal } from './goals.ts';
import { measureGrowth } from './growth.ts';
import { measureLists, type ListFigures } from './lists.ts';
import { machineOf } from './machine.ts';
import { measureAuth, measureCourses, measureTwo, type OtherFigures } from './others.ts';
import { measureStale } from './stale.ts';
import { needTools } from './tools.ts';
import { measureWarm } from './warm.ts';

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    /** Comma-separated parts to run; all by default. */
    only: { type: 'string' },
    size: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
  },
});
const preset = values.quick
  ? { size: 0.02, rounds: 1, seconds: 1 }
  : values.check
    ? { size: 0.1, rounds: 3, seconds: 3 }
    : { size: 1, rounds: 5, seconds: 8 };
const size = Number(values.size ?? preset.size);
const length = { rounds: Number(values.rounds ?? preset.rounds), seconds: Number(values.seconds ?? preset.seconds) };
/** Results without a goal. */
const told = { ...length, rounds: Math.min(2, length.rounds) };
const parts = ['lists', 'growth', 'warm', 'stale', 'auth', 'two', 'writes', 'booking'];
if (values.only !== undefined && !parts.includes(values.only))
  throw new Error(`--only takes one of ${parts.join(', ')}`);
if (!(size > 0 && length.rounds >= 1 && length.seconds >= 1))
  throw new Error('--size, --rounds and --seconds are numbers above 0');
const wants = (part: string) =>
  values.only === undefined ? !(values.quick && (part === 'growth' || part === 'stale')) : values.only === part;

const goals: Goal[] = [];
const results: Record<string, unknown> = { size, ...length, date: new Date().toISOString() };
const others: OtherFigures[] = [];
/** Growth of costs compared with a tenth of the rows. */
const growth: Record<string, number> = {};

needTools();
try {
  await measure();
} finally {
  // A failing part must not lose the results of the others.
  results['others'] = others.map((one) => ({ ...one, growth: growth[one.name] }));
  results['goals'] = goals;
  if (others.length > 0) showOthers();
  mkdirSync('test/output', { recursive: true });
  writeFileSync('test/output/bench.json', JSON.stringify(results, null, 2));
  const missed = report(goals);
  if (values.check && missed > 0) process.exitCode = 1;
}

async function measure() {
  if (wants('booking')) {
    const measured = await withDatabase(size, async (subject) => {
      results['machine'] = await machineOf(subject);
      return measureBooking(subject, length);
    });
    for (const figures of measured) judge(figures, 'share of pgbench', { must: 0.5 });
    await compare(measured, (subject) => measureBooking(subject, told));
  }
  const durations: OtherFigures[] = [];
  const courses: OtherFigures[] = [];
  if (parts.filter((part) => part !== 'booking').some(wants)) {
    await withDatabase(size, async (subject, dataset) => {
      results['machine'] = await machineOf(subject);
      if (wants('lists')) await cold(subject, dataset);
      // Before any writes.
      if (wants('growth')) {
        const measured = await measureGrowth(subject, dataset, size, length);
        results['growth'] = measured.growth;
        goals.push(...measured.goals);
      }
      if (wants('warm')) await warm(subject, dataset);
      if (wants('stale')) {
        const figures = await measureStale(subject, dataset, values.check || !values.seconds ? 60 : length.seconds);
        results['stale'] = figures;
        console.log(`${figures.reads} reads (${figures.unchanged} by ETag alone) beside ${figures.writes} writes`);
        goals.push({ name: 'stale answers', must: 0, atMost: true, measured: figures.stale });
      }
      if (wants('auth')) {
        durations.push(await measureAuth(subject, dataset, length));
        judge(durations[0]!, 'share of a bare server', { must: 0.85 });
      }
      if (wants('two')) others.push(await measureTwo(subject, dataset, '/v2/coursedates', length));
      if (wants('writes')) {
        courses.push(...(await coursesBy(subject, dataset, length)));
        judge(courses[0]!, 'share of pgbench', { must: 0.25 });
        judge(courses[1]!, 'share of pgbench', { must: 0.6 });
      }
    });
  }
  await compare(durations, async (...small) => [await measureAuth(...small, told)]);
  await compare(courses, (...small) => coursesBy(...small, told));
}

async function coursesBy(subject: Subject, dataset: Dataset, long: typeof length) {
  const one = await measureCourses(subject, dataset, 1, long);
  return [one, await measureCourses(subject, dataset, 8, long)];
}

/** Runs after the large data set is dropped, since autovacuum still processes it after the writes. */
async function compare(
  figures: OtherFigures[],
  measure: (subject: Subject, dataset: Dataset) => Promise<OtherFigures[]>,
) {
  if (values.quick || figures.length === 0) return;
  const small = await withDatabase(size / 10, measure);
  for (const [n, one] of figures.entries()) growth[one.name] = spentBy(one) / spentBy(small[n]!);
}

async function cold(subject: Subject, dataset: Dataset) {
  const floors = Object.keys(coldShares);
  const lists = await measureLists(subject, dataset, await listCases(subject, dataset), { ...length, floors });
  results['lists'] = lists;
  showLists(lists);
  for (const { name, share, timesFloor, timesPgbench } of lists) {
    const goal = coldShares[name];
    if (!goal) continue;
    goals.push({ name: `${name}, cold, share of pgbench`, ...goal, measured: share });
    const atMost = { atMost: true } as const;
    goals.push({ name: `${name}, cold, Node's CPU, times the floor`, must: 1.8, ...atMost, measured: timesFloor });
    goals.push({
      name: `${name}, cold, PostgreSQL's CPU, times pgbench's`,
      must: 1.2,
      ...atMost,
      measured: timesPgbench,
    });
  }
}

async function warm(subject: Subject, dataset: Dataset) {
  const cases = (await listCases(subject, dataset)).filter(({ name }) => name in warmTimes);
  const figures = await measureWarm(subject, dataset, cases, length);
  results['warm'] = figures;
  console.table(
    figures.map(({ name, bytesAlone, ...one }) => ({
      ...{ name, ...columnsOf(one), '304 per s': Math.round(one.notModified) },
      ...{ 'pgbench, rows': Math.round(one.rowsAlone), times: round(one.perSecond / one.rowsAlone) },
      ...{ 'bare, bytes': Math.round(bytesAlone) },
      ...{ 'of bare': percent(one.perSecond / bytesAlone), mixed: percent(one.mixed / one.perSecond) },
      ...{ 'mixed, full': percent(one.mixedFull / one.perSecond) },
    })),
  );
  for (const { name, perSecond: rate, notModified, mixed, rowsAlone } of figures) {
    const must = warmTimes[name]!;
    goals.push({ name: `${name}, warm, times pgbench's rows`, must, measured: rate / rowsAlone });
    goals.push({ name: `${name}, 304, times pgbench's rows`, must, measured: notModified / rowsAlone });
    goals.push({ name: `${name}, mixed, share of warm`, must: 0.6, measured: mixed / rate });
  }
}

function showLists(lists: ListFigures[]) {
  console.table(
    lists.map(({ name, ...figures }) => ({
      name,
      ...{ items: figures.items, ...columnsOf(figures) },
      pgbench: Math.round(figures.limit),
      share: percent(figures.share),
      ...{ 'PostgreSQL, times': round(figures.timesPgbench), 'Node, times floor': round(figures.timesFloor) },
      statements: figures.statements,
    })),
  );
}

/** Reference: pgbench, a minimal server, or one process. */
function showOthers() {
  console.table(
    others.map(({ name, statements, limit, share, ...cost }) => ({
      ...{ name, ...columnsOf(cost), statements, beside: Math.round(limit), share: percent(share) },
      growth: name in growth ? round(growth[name]!) : '',
    })),
  );
}

function judge(figures: OtherFigures, of: string, goal: { must: number }) {
  others.push(figures);
  goals.push({ name: `${figures.name}, ${of}`, ...goal, measured: figures.share });
}
