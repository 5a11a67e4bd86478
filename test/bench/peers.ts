import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { withDatabase } from './database.ts';
import { median } from './figures.ts';
import { report, type Goal } from './goals.ts';
import { drive } from './load.ts';
import { machineOf } from './machine.ts';
import { needTools } from './tools.ts';
import { checkAlike } from './peers/alike.ts';
import { directus } from './peers/directus.ts';
import { questionNames, type QuestionName } from './peers/fields.ts';
import { ours } from './peers/ours.ts';
import { installed, type Peer, type Side } from './peers/peer.ts';
import { postgraphile } from './peers/postgraphile.ts';
import { strapi } from './peers/strapi.ts';
import { peakMegabytes, secondsOf, secondsOfFamily } from './usage.ts';

// Compares the service with other servers on the same pages of the same rows, alternating while all run.
needTools({ isPgbenchNeeded: false });
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '0.1' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    /** Restricts the run to peers whose name starts with this. */
    only: { type: 'string', default: '' },
  },
});
const [size, rounds, seconds] = [Number(values.size), Number(values.rounds), Number(values.seconds)];
const load = { connections: 8, seconds };

type Run = { perSecond: number; p50: number; p99: number; processMs: number; postgresMs: number };
type Figures = Run & { question: QuestionName; side: string; rates: number[]; megabytes: number; kilobytes: number };

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

const { machine, figures } = await withDatabase(size, async (subject, data) => ({
  machine: await machineOf(subject),
  figures: await ours(subject, data, (own) => withPeers(places, own, (sides) => measure(sides, subject.pid))),
}));
const goals = goalsOf(figures);
console.table(
  figures.map(({ question, side, ...run }) => ({
    ...{ question, side, 'per s': Math.round(run.perSecond), 'p50 ms': round(run.p50), 'p99 ms': round(run.p99) },
    ...{ 'process ms': round(run.processMs), 'PostgreSQL ms': round(run.postgresMs), 'peak MB': run.megabytes },
    'answer kB': run.kilobytes,
  })),
);
const results = {
  size,
  rounds,
  seconds,
  date: new Date().toISOString(),
  machine,
  skipped,
  figures,
  goals,
};
mkdirSync('test/output', { recursive: true });
writeFileSync('test/output/peers.json', JSON.stringify(results, null, 2));
report(goals);

/** Starts all servers, each on its own copy of the database. */
async function withPeers<T>(rest: typeof places, sides: Side[], work: (sides: Side[]) => Promise<T>): Promise<T> {
  const [next, ...later] = rest;
  if (!next) return work(sides);
  return withDatabase(size, async (subject, data) => {
    // Same session settings as the service's.
    await subject.database.pool.query(`alter database ${subject.socket.name} set random_page_cost = 1.1`);
    return next.peer.serve({ folder: next.folder, subject, data }, (side) => withPeers(later, [...sides, side], work));
  });
}

async function measure(sides: Side[], postgresPid: number): Promise<Figures[]> {
  const sizes = new Map<string, number>();
  for (const question of questionNames) {
    const kilobytes = await checkAlike(sides, question);
    for (const [n, { name }] of sides.entries()) sizes.set(`${question} ${name}`, kilobytes[n]!);
  }
  const runs = new Map<string, Run[]>();
  for (let round = -1; round < rounds; round += 1) {
    for (const question of questionNames) {
      for (const side of sides) {
        const run = await once(side, question, postgresPid);
        // The first round is a warm-up.
        if (round < 0) continue;
        const key = `${question} ${side.name}`;
        runs.set(key, [...(runs.get(key) ?? []), run]);
      }
    }
  }
  return questionNames.flatMap((question) =>
    sides.map((side): Figures => {
      const key = `${question} ${side.name}`;
      const all = runs.get(key)!;
      const middle = (key: keyof Run) => median(all.map((run) => run[key]));
      return {
        ...{ question, side: side.name, perSecond: middle('perSecond'), p50: middle('p50'), p99: middle('p99') },
        ...{ processMs: middle('processMs'), postgresMs: middle('postgresMs'), megabytes: peakMegabytes(side.pid) },
        ...{ rates: all.map((run) => run.perSecond), kilobytes: sizes.get(key)! },
      };
    }),
  );
}

/** Measures again if a stall of the machine broke a connection. */
async function once(side: Side, question: QuestionName, postgresPid: number, tries = 3): Promise<Run> {
  const { url, method, headers, body } = side.questions[question];
  const [processBefore, postgresBefore] = [secondsOf(side.pid), secondsOfFamily(postgresPid)];
  const { statuses, ...run } = await drive({ url, method, headers, body, ...load, status: '200' });
  if (Object.keys(statuses).join() !== '200') {
    console.log(`${side.name}, ${question}: not all were 200: ${JSON.stringify(statuses)}`);
    if (tries === 1) throw new Error('it will not be measured');
    return once(side, question, postgresPid, tries - 1);
  }
  const each = (spent: number) => (spent * 1_000) / statuses['200']!;
  const processMs = each(secondsOf(side.pid) - processBefore);
  return { ...run, processMs, postgresMs: each(secondsOfFamily(postgresPid) - postgresBefore) };
}

/** Compares with the fastest peer of the same round, so that load on the machine affects both. */
function goalsOf(all: Figures[]): Goal[] {
  const others = all.filter(({ side }) => !side.startsWith('ours'));
  const own = all.filter(({ side }) => side.startsWith('ours'));
  const times = own.map(({ question, side, rates }): Goal => {
    const compared = others
      .filter((one) => one.question === question)
      .map((one) => ({ name: one.side, measured: median(rates.map((rate, n) => rate / one.rates[n]!)) }));
    const { name, measured } = compared.reduce((a, b) => (b.measured < a.measured ? b : a));
    const must = side === 'ours, warm' ? 10 : question === 'courses' ? 2 : 3;
    return { name: `${question}, ${side}, times ${name}`, must, measured };
  });
  const leanest = others.reduce((a, b) => (b.megabytes < a.megabytes ? b : a));
  const measured = Math.max(...own.map(({ megabytes }) => megabytes));
  return [
    ...times,
    { name: `peak MB, against ${leanest.side}`, must: leanest.megabytes, atMost: true as const, measured },
  ];
}

function round(figure: number) {
  return Number(figure.toFixed(1));
}
