import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildRelease } from '../reliability/support/release-build.ts';
import { buildCommit, measureAgainst } from './against.ts';
import { measureBooking } from './booking.ts';
import { measureBookingCost } from './booking-cost.ts';
import { listCases } from './cases.ts';
import { catalogGoals, measureCatalog, measureStaleCatalog } from './catalog.ts';
import { measureCompression } from './compression.ts';
import { toColumns, percent, round, totalMs } from './cost.ts';
import { withDatabase, type Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { coldShares, compressedShares, report, warmTimes, type Goal } from './goals.ts';
import { measureGrowth } from './growth.ts';
import { measureLists, type ListFigures } from './lists.ts';
import { describeMachine } from './machine.ts';
import { measureAuth, measureCourses, measureItems, measureTwo, type OtherFigures } from './others.ts';
import { measureNewest } from './newest.ts';
import { measureLatency, type LatencyFigures } from './open-loop.ts';
import { measureObservability } from './observability.ts';
import { measureReminders, reminderGoals } from './reminders.ts';
import { measureStale, type StaleFigures } from './stale.ts';
import { requireTools } from './tools.ts';
import { measureWarm } from './warm.ts';

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    /** One part to run; all by default. */
    only: { type: 'string' },
    /** A commit, with `--only warm`, whose cached lists are measured in turns with those of this build. */
    against: { type: 'string' },
    size: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
  },
});
const preset = values.quick ? { size: 0.02, rounds: 1, seconds: 1 } : { size: 0.1, rounds: 3, seconds: 3 };
const size = Number(values.size ?? preset.size);
const length = { rounds: Number(values.rounds ?? preset.rounds), seconds: Number(values.seconds ?? preset.seconds) };
/** Results without a goal. */
const shortLength = { ...length, rounds: Math.min(2, length.rounds) };
const parts = [
  'lists',
  'newest',
  'growth',
  'warm',
  'compression',
  'stale',
  'auth',
  'items',
  'latency',
  'observability',
  'two',
  'catalog',
  'reminders',
  'writes',
  'booking',
  'booking-cost',
];
if (values.only !== undefined && !parts.includes(values.only))
  throw new Error(`--only takes one of ${parts.join(', ')}`);
if (!(size > 0 && length.rounds >= 1 && length.seconds >= 1))
  throw new Error('--size, --rounds and --seconds must be at least 1 (--size above 0)');
/** Left out of `--quick`. */
const slowParts = ['growth', 'stale', 'reminders', 'booking-cost'];
const isSelected = (part: string) =>
  values.only === undefined ? !(values.quick && slowParts.includes(part)) : values.only === part;

if (values.against !== undefined && !['warm', 'booking-cost'].includes(values.only ?? ''))
  throw new Error('--against needs --only warm or booking-cost');

const goals: Goal[] = [];
const results: Record<string, unknown> = { size, ...length, date: new Date().toISOString() };
const others: OtherFigures[] = [];
/** Growth of costs compared with a tenth of the rows. */
const growth: Record<string, number> = {};

requireTools();
try {
  await measure();
} finally {
  // A failing part must not lose the results of the others.
  results['others'] = others.map((one) => ({ ...one, growth: growth[one.name] }));
  results['goals'] = goals;
  if (others.length > 0) printOthers();
  mkdirSync('test/output', { recursive: true });
  writeFileSync('test/output/bench.json', JSON.stringify(results, null, 2));
  const missedGoals = report(goals);
  if (values.check && missedGoals > 0) process.exitCode = 1;
}

async function measure() {
  if (values.against !== undefined && isSelected('warm')) return compareCached(values.against);
  if (isSelected('booking')) {
    const measured = await withDatabase(size, async (subject) => {
      results['machine'] = await describeMachine(subject);
      return measureBooking(subject, length);
    });
    for (const figures of measured) addResult(figures, 'share of pgbench', { must: 0.5 });
    await compareWithSmall(measured, (subject) => measureBooking(subject, shortLength));
  }
  const durations: OtherFigures[] = [];
  const courses: OtherFigures[] = [];
  if (parts.filter((part) => !part.startsWith('booking')).some(isSelected)) {
    await withDatabase(size, async (subject, dataset) => {
      results['machine'] = await describeMachine(subject);
      if (isSelected('lists')) await measureCold(subject, dataset);
      if (isSelected('newest')) {
        const figures = await measureNewest(subject, dataset, length);
        results['newest'] = figures;
        console.table([Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, round(figure)]))]);
        const name = 'a page of the 250 newest orders, relative to a page by id';
        goals.push({ name, must: 1.3, atMost: true, measured: figures.ratio });
      }
      // Before any writes.
      if (isSelected('growth')) {
        const measured = await measureGrowth(subject, dataset, size, length);
        results['growth'] = measured.growth;
        goals.push(...measured.goals);
      }
      if (isSelected('warm')) await measureCached(subject, dataset);
      if (isSelected('compression')) await measureEncodings(subject, dataset);
      if (isSelected('stale')) {
        const seconds = values.quick || values.seconds ? length.seconds : 60;
        addStale('stale responses', await measureStale(subject, dataset, seconds));
        addStale('stale pages of a catalog', await measureStaleCatalog(subject, seconds));
      }
      if (isSelected('auth')) {
        durations.push(await measureAuth(subject, dataset, length));
        addResult(durations[0]!, 'share of a minimal server', { must: 0.85 });
      }
      if (isSelected('items')) {
        for (const figures of await measureItems(subject, dataset, length))
          addResult(figures, 'share of a minimal server', { must: 0.6 });
      }
      if (isSelected('latency')) await measureLatencies(subject, dataset);
      if (isSelected('observability')) await measureObservers(subject, dataset);
      if (isSelected('two')) others.push(await measureTwo(subject, dataset, '/v2/coursedates', length));
      if (isSelected('catalog')) {
        const figures = await measureCatalog(subject, length);
        results['catalog'] = figures;
        console.table(figures.map((one) => ({ ...one, perSecond: Math.round(one.perSecond), p99: round(one.p99) })));
        goals.push(...catalogGoals(figures));
      }
      if (isSelected('reminders')) {
        const figures = await measureReminders(subject, { ...length, seconds: values.seconds ? length.seconds : 30 });
        results['reminders'] = figures;
        goals.push(...reminderGoals(figures));
      }
      if (isSelected('writes')) {
        courses.push(...(await measureCreates(subject, dataset, length)));
        addResult(courses[0]!, 'share of pgbench', { must: 0.25 });
        addResult(courses[1]!, 'share of pgbench', { must: 0.6 });
      }
    });
  }
  await compareWithSmall(durations, async (...small) => [await measureAuth(...small, shortLength)]);
  await compareWithSmall(courses, (...small) => measureCreates(...small, shortLength));
  if (isSelected('booking-cost')) await compareBookings();
}

async function measureCreates(subject: Subject, dataset: Dataset, duration: typeof length) {
  const one = await measureCourses(subject, dataset, 1, duration);
  return [one, await measureCourses(subject, dataset, 8, duration)];
}

/** Runs after the large data set is dropped, since autovacuum still processes it after the writes. */
async function compareWithSmall(
  figures: OtherFigures[],
  measure: (subject: Subject, dataset: Dataset) => Promise<OtherFigures[]>,
) {
  if (values.quick || figures.length === 0) return;
  const small = await withDatabase(size / 10, measure);
  for (const [n, one] of figures.entries()) growth[one.name] = totalMs(one) / totalMs(small[n]!);
}

/** The last one without the change feed. */
const release = '0.2';

async function compareBookings() {
  const { against } = values;
  const [other, must] = against === undefined ? [release, 1.1] : [against, 1.05];
  const figures = await measureBookingCost(length, (run) =>
    against === undefined ? buildRelease(run, release) : buildCommit(run, against),
  );
  results['booking-cost'] = figures ?? 'the history does not have the release';
  if (!figures) return;
  const { turns, msBefore, msNow, ratio } = figures;
  console.table([{ turns, [`ms in ${other}`]: round(msBefore), 'ms now': round(msNow), ratio: round(ratio) }]);
  goals.push({ name: `time of a booking, relative to ${other}`, must, atMost: true, measured: ratio });
}

async function compareCached(commit: string) {
  const figures = await measureAgainst(commit, length);
  results['against'] = { commit, figures };
  console.table(
    figures.map(({ name, perSecond, before, ratio, same: [lowest, highest] }) => ({
      ...{ name, 'per s': Math.round(perSecond), [`per s in ${commit}`]: Math.round(before), ratio: round(ratio) },
      'this build to itself': `${round(lowest)} to ${round(highest)}`,
    })),
  );
  for (const { name, ratio, same } of figures)
    goals.push({ name: `${name}, cached, relative to ${commit}`, must: Math.min(0.95, same[0]), measured: ratio });
}

async function measureCold(subject: Subject, dataset: Dataset) {
  const floors = Object.keys(coldShares);
  const lists = await measureLists(subject, dataset, await listCases(subject, dataset), { ...length, floors });
  results['lists'] = lists;
  printLists(lists);
  for (const { name, share, timesFloor, timesPgbench } of lists) {
    const goal = coldShares[name];
    if (!goal) continue;
    goals.push({ name: `${name}, uncached, share of pgbench`, ...goal, measured: share });
    const atMost = { atMost: true } as const;
    goals.push({
      name: `${name}, uncached, Node CPU relative to the floor`,
      must: 1.8,
      ...atMost,
      measured: timesFloor,
    });
    goals.push({
      name: `${name}, uncached, PostgreSQL CPU relative to pgbench`,
      must: 1.2,
      ...atMost,
      measured: timesPgbench,
    });
  }
}

async function measureCached(subject: Subject, dataset: Dataset) {
  const cases = (await listCases(subject, dataset)).filter(({ name }) => name in warmTimes);
  const figures = await measureWarm(subject, dataset, cases, length);
  results['warm'] = figures;
  console.table(
    figures.map(({ name, bytesAlone, ...one }) => ({
      ...{ name, ...toColumns(one), '304 per s': Math.round(one.notModified) },
      ...{ pgbench: Math.round(one.rowsAlone), times: round(one.perSecond / one.rowsAlone) },
      ...{ 'minimal server': Math.round(bytesAlone) },
      ...{ 'share of minimal': percent(one.perSecond / bytesAlone), mixed: percent(one.mixed / one.perSecond) },
      ...{ 'mixed, full': percent(one.mixedFull / one.perSecond) },
      ...{ 'beside bookings': percent(one.besideBookings / one.perSecond) },
    })),
  );
  for (const { name, perSecond: rate, notModified, mixed, rowsAlone, besideBookings } of figures) {
    if (name === 'courses')
      goals.push({ name: `${name}, beside bookings, share of cached`, must: 0.85, measured: besideBookings / rate });
    const must = warmTimes[name]!;
    goals.push({ name: `${name}, cached, relative to pgbench`, must, measured: rate / rowsAlone });
    goals.push({ name: `${name}, 304, relative to pgbench`, must, measured: notModified / rowsAlone });
    goals.push({ name: `${name}, mixed, share of cached`, must: 0.6, measured: mixed / rate });
  }
}

async function measureLatencies(subject: Subject, dataset: Dataset) {
  const figures = await measureLatency(subject, dataset, length);
  results['latency'] = figures;
  console.table(
    figures.map(({ name, perSecond, writesPerSecond, p50, p99, p999 }) => ({
      ...{ name, 'per s': Math.round(perSecond), 'writes per s': Math.round(writesPerSecond) },
      ...{ 'p50 ms': round(p50), 'p99 ms': round(p99), 'p99.9 ms': round(p999) },
    })),
  );
  const [idle, , besideWriter] = figures as [LatencyFigures, LatencyFigures, LatencyFigures];
  const name = 'p99 of a school beside another that writes, relative to idle';
  goals.push({ name, must: 2, atMost: true, measured: besideWriter.p99 / idle.p99 });
}

async function measureObservers(subject: Subject, dataset: Dataset) {
  const cases = (await listCases(subject, dataset)).filter(({ name }) => name === 'courses' || name === 'coursedates');
  const { observed, scrape } = await measureObservability(subject, dataset, cases, length);
  results['observability'] = { observed, scrape };
  console.table(
    observed.map(({ name, microseconds, processor, control }) => ({
      ...{ name, 'µs without': Math.round(microseconds), processor: round(processor), control: round(control) },
    })),
  );
  console.table([Object.fromEntries(Object.entries(scrape).map(([name, figure]) => [name, round(figure)]))]);
  for (const { name, processor: measured } of observed) {
    const must = name.includes('cold') ? 1.02 : name.includes('errors') ? 1.05 : undefined;
    if (must !== undefined) goals.push({ name: `${name}, processor time`, must, atMost: true, measured });
  }
  goals.push({ name: 'ms of a scrape, median', must: 5, atMost: true, measured: scrape.medianMs });
}

async function measureEncodings(subject: Subject, dataset: Dataset) {
  const cases = (await listCases(subject, dataset)).filter(({ name }) => name in compressedShares);
  const figures = await measureCompression(subject, dataset, cases, length);
  results['compression'] = figures;
  console.table(
    figures.map(({ name, bytes, ...shares }) => ({
      ...{ name, bytes },
      ...Object.fromEntries(Object.entries(shares).map(([column, share]) => [column, percent(share)])),
    })),
  );
  for (const { name, gzip, br, cachedShare, coldShare } of figures) {
    const largest = Math.max(gzip, br);
    goals.push({ name: `${name}, compressed`, must: compressedShares[name]!, atMost: true, measured: largest });
    goals.push({ name: `${name}, cached with gzip, share of without`, must: 1, measured: cachedShare });
    goals.push({ name: `${name}, uncached with gzip, share of without`, must: 0.7, measured: coldShare });
  }
}

function printLists(lists: ListFigures[]) {
  console.table(
    lists.map(({ name, ...figures }) => ({
      name,
      ...{ items: figures.items, ...toColumns(figures) },
      pgbench: Math.round(figures.limit),
      share: percent(figures.share),
      ...{ 'PostgreSQL, relative': round(figures.timesPgbench), 'Node, relative to floor': round(figures.timesFloor) },
      statements: figures.statements,
    })),
  );
}

/** Reference: pgbench, a minimal server, or one process. */
function printOthers() {
  console.table(
    others.map(({ name, statements, limit, share, ...cost }) => ({
      ...{ name, ...toColumns(cost), statements, reference: Math.round(limit), share: percent(share) },
      growth: name in growth ? round(growth[name]!) : '',
    })),
  );
}

function addStale(name: string, figures: StaleFigures) {
  results[name] = figures;
  console.log(`${figures.reads} reads (${figures.unchanged} were 304) during ${figures.writes} writes`);
  goals.push({ name, must: 0, atMost: true, measured: figures.stale });
}

function addResult(figures: OtherFigures, of: string, goal: { must: number }) {
  others.push(figures);
  goals.push({ name: `${figures.name}, ${of}`, ...goal, measured: figures.share });
}
