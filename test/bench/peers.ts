import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { withDatabase } from './database.ts';
import { median } from './figures.ts';
import { report, type Goal } from './goals.ts';
import { drive, onlyStatus } from './load.ts';
import { directus } from './peers/directus.ts';
import { questionNames, type QuestionName } from './peers/fields.ts';
import { ours } from './peers/ours.ts';
import { installed, type Peer, type Side } from './peers/peer.ts';
import { postgraphile } from './peers/postgraphile.ts';
import { strapi } from './peers/strapi.ts';
import { peakMegabytes, secondsOf, secondsOfFamily } from './usage.ts';

// The same pages of the same rows, asked of us and of servers by others in turns, all of them running meanwhile.
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '0.1' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    /** One of the peers, by the beginning of its name. */
    only: { type: 'string', default: '' },
  },
});
const [size, rounds, seconds] = [Number(values.size), Number(values.rounds), Number(values.seconds)];
const load = { connections: 8, seconds };

type Run = { perSecond: number; p50: number; p99: number; processMs: number; postgresMs: number };
type Figures = Run & { question: QuestionName; side: string; megabytes: number };

const places: { peer: Peer; folder: string }[] = [];
const skipped: string[] = [];
for (const peer of [postgraphile, directus, strapi]) {
  if (!peer.name.toLowerCase().startsWith(values.only.toLowerCase())) continue;
  const found = await installed(peer);
  if ('folder' in found) places.push({ peer, folder: found.folder });
  else skipped.push(`${peer.name} is skipped: ${found.missing}`);
}
for (const line of skipped) console.log(line);
if (places.length === 0) throw new Error('there is nobody to compare with');

const figures = await withDatabase(size, (subject, data) =>
  ours(subject, data, (own) => withPeers(places, own, (sides) => measure(sides, subject.pid))),
);
const goals = goalsOf(figures);
console.table(
  figures.map(({ question, side, ...run }) => ({
    ...{ question, side, 'per s': Math.round(run.perSecond), 'p50 ms': round(run.p50), 'p99 ms': round(run.p99) },
    ...{ 'process ms': round(run.processMs), 'PostgreSQL ms': round(run.postgresMs), 'peak MB': run.megabytes },
  })),
);
const results = {
  size,
  rounds,
  seconds,
  date: new Date().toISOString(),
  node: process.version,
  skipped,
  figures,
  goals,
};
mkdirSync('test/output', { recursive: true });
writeFileSync('test/output/peers.json', JSON.stringify(results, null, 2));
report(goals);

/** Starts them all, each on a copy of the database of its own. */
async function withPeers<T>(rest: typeof places, sides: Side[], work: (sides: Side[]) => Promise<T>): Promise<T> {
  const [next, ...later] = rest;
  if (!next) return work(sides);
  return withDatabase(size, async (subject, data) => {
    // As our own sessions have it.
    await subject.database.pool.query(`alter database ${subject.socket.name} set random_page_cost = 1.1`);
    return next.peer.serve({ folder: next.folder, subject, data }, (side) => withPeers(later, [...sides, side], work));
  });
}

async function measure(sides: Side[], postgresPid: number): Promise<Figures[]> {
  for (const question of questionNames) await checkAlike(sides, question);
  const runs = new Map<string, Run[]>();
  for (let round = -1; round < rounds; round += 1) {
    for (const question of questionNames) {
      for (const side of sides) {
        const { told: _, ...ask } = side.questions[question];
        const [processBefore, postgresBefore] = [secondsOf(side.pid), secondsOfFamily(postgresPid)];
        const { statuses, ...run } = await drive({ ...ask, ...load });
        onlyStatus('200', { ...run, statuses });
        const each = (spent: number) => (spent * 1_000) / statuses['200']!;
        const processMs = each(secondsOf(side.pid) - processBefore);
        const postgresMs = each(secondsOfFamily(postgresPid) - postgresBefore);
        // The first round only warms up.
        if (round < 0) continue;
        const key = `${question} ${side.name}`;
        runs.set(key, [...(runs.get(key) ?? []), { ...run, processMs, postgresMs }]);
      }
    }
  }
  return questionNames.flatMap((question) =>
    sides.map((side): Figures => {
      const all = runs.get(`${question} ${side.name}`)!;
      const middle = (key: keyof Run) => median(all.map((run) => run[key]));
      return {
        ...{ question, side: side.name, perSecond: middle('perSecond'), p50: middle('p50'), p99: middle('p99') },
        ...{ processMs: middle('processMs'), postgresMs: middle('postgresMs'), megabytes: peakMegabytes(side.pid) },
      };
    }),
  );
}

/** Every side tells of the same 75 rows, and of what belongs to them. */
async function checkAlike([first, ...others]: Side[], question: QuestionName) {
  const expected = await linesOf(first!, question);
  if (expected.length !== 76) throw new Error(`${question}: we told of ${expected.length - 1} rows`);
  for (const other of others) {
    const lines = await linesOf(other, question);
    const wrong = lines.findIndex((line, n) => line !== expected[n]);
    if (lines.length === expected.length && wrong < 0) continue;
    throw new Error(
      `${question}: ${other.name} told ${lines[wrong]}, not ${expected[wrong]} (${lines.length - 1} rows)`,
    );
  }
}

/** What an answer tells: the total, then a line for each row; what is listed inside one in any order. */
async function linesOf(side: Side, question: QuestionName) {
  const { items, ...rest } = await answerOf(side, question);
  const inOrder = (_: string, value: unknown): unknown => (isTexts(value) ? value.toSorted() : value);
  return [rest, ...items].map((line) => JSON.stringify(line, inOrder));
}
function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && typeof value[0] === 'string';
}

async function answerOf({ name, questions }: Side, question: QuestionName) {
  const { url, told, ...init } = questions[question];
  const answer = await fetch(url, init);
  const text = await answer.text();
  try {
    return told(JSON.parse(text));
  } catch (error) {
    throw new Error(`${name} told ${answer.status} to ${question}: ${text.slice(0, 2_000)}`, { cause: error });
  }
}

function goalsOf(all: Figures[]): Goal[] {
  const isOurs = ({ side }: Figures) => side.startsWith('ours');
  const goals = questionNames.flatMap((question) => {
    const of = all.filter((one) => one.question === question);
    const best = of.filter((one) => !isOurs(one)).reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
    const rate = (side: string) => of.find((one) => one.side === side)!.perSecond;
    const times = (side: string, must: number) => ({
      ...{ name: `${question}, ${side}, times ${best.side}`, must, measured: rate(side) / best.perSecond },
    });
    return [times('ours, cold', question === 'courses' ? 2 : 3), times('ours, warm', 10)];
  });
  const leanest = all.filter((one) => !isOurs(one)).reduce((a, b) => (b.megabytes < a.megabytes ? b : a));
  const measured = Math.max(...all.filter(isOurs).map(({ megabytes }) => megabytes));
  const must = leanest.megabytes;
  return [...goals, { name: `peak MB, at most that of ${leanest.side}`, must, atMost: true, measured }];
}

function round(figure: number) {
  return Number(figure.toFixed(1));
}
