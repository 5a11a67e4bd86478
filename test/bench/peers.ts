import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { withDatabase } from './database.ts';
import { median } from './figures.ts';
import { report, type Goal } from './goals.ts';
import { runLoad } from './load.ts';
import { describeMachine } from './machine.ts';
import { requireTools } from './tools.ts';
import { assertSameRows } from './peers/same-rows.ts';
import { directus } from './peers/directus.ts';
import { queryNames, type QueryName } from './peers/fields.ts';
import { ours } from './peers/ours.ts';
import { installPeer, type Peer, type Side } from './peers/peer.ts';
import { postgraphile } from './peers/postgraphile.ts';
import { strapi } from './peers/strapi.ts';
import { peakMegabytes, processSeconds, processTreeSeconds } from './usage.ts';

// Compares the service with other servers on the same pages of the same rows, alternating while all run.
requireTools({ isPgbenchNeeded: false });
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
type Figures = Run & { query: QueryName; side: string; rates: number[]; megabytes: number; kilobytes: number };

const installedPeers: { peer: Peer; folder: string }[] = [];
const skipped: string[] = [];
for (const peer of [postgraphile, directus, strapi]) {
  if (!peer.name.toLowerCase().startsWith(values.only.toLowerCase())) continue;
  const installation = await installPeer(peer);
  if ('folder' in installation) installedPeers.push({ peer, folder: installation.folder });
  else skipped.push(`${peer.name} skipped: ${installation.reason}`);
}
for (const line of skipped) console.log(line);
if (installedPeers.length === 0) throw new Error('no peer is installed');

const { machine, figures } = await withDatabase(size, async (subject, data) => ({
  machine: await describeMachine(subject),
  figures: await ours(subject, data, (own) => withPeers(installedPeers, own, (sides) => measure(sides, subject.pid))),
}));
const goals = createGoals(figures);
console.table(
  figures.map(({ query, side, ...run }) => ({
    ...{
      query,
      side,
      'per s': Math.round(run.perSecond),
      'p50 ms': round(run.p50),
      'p99 ms': round(run.p99),
    },
    ...{ 'process ms': round(run.processMs), 'PostgreSQL ms': round(run.postgresMs), 'peak MB': run.megabytes },
    'response kB': run.kilobytes,
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
async function withPeers<T>(
  rest: typeof installedPeers,
  sides: Side[],
  work: (sides: Side[]) => Promise<T>,
): Promise<T> {
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
  for (const query of queryNames) {
    const kilobytes = await assertSameRows(sides, query);
    for (const [n, { name }] of sides.entries()) sizes.set(`${query} ${name}`, kilobytes[n]!);
  }
  const runs = new Map<string, Run[]>();
  for (let round = -1; round < rounds; round += 1) {
    for (const query of queryNames) {
      for (const side of sides) {
        const run = await measureOnce(side, query, postgresPid);
        // The first round is a warm-up.
        if (round < 0) continue;
        const key = `${query} ${side.name}`;
        runs.set(key, [...(runs.get(key) ?? []), run]);
      }
    }
  }
  return queryNames.flatMap((query) =>
    sides.map((side): Figures => {
      const key = `${query} ${side.name}`;
      const all = runs.get(key)!;
      const medianOf = (key: keyof Run) => median(all.map((run) => run[key]));
      return {
        ...{ query, side: side.name, perSecond: medianOf('perSecond'), p50: medianOf('p50'), p99: medianOf('p99') },
        ...{ processMs: medianOf('processMs'), postgresMs: medianOf('postgresMs'), megabytes: peakMegabytes(side.pid) },
        ...{ rates: all.map((run) => run.perSecond), kilobytes: sizes.get(key)! },
      };
    }),
  );
}

/** Measures again if a stall of the machine broke a connection. */
async function measureOnce(side: Side, query: QueryName, postgresPid: number, tries = 3): Promise<Run> {
  const { url, method, headers, body } = side.queries[query];
  const [processBefore, postgresBefore] = [processSeconds(side.pid), processTreeSeconds(postgresPid)];
  const { statuses, ...run } = await runLoad({ url, method, headers, body, ...load, status: '200' });
  if (Object.keys(statuses).join() !== '200') {
    console.log(`${side.name}, ${query}: unexpected statuses: ${JSON.stringify(statuses)}`);
    if (tries === 1) throw new Error('the load failed three times');
    return measureOnce(side, query, postgresPid, tries - 1);
  }
  const perResponse = (spent: number) => (spent * 1_000) / statuses['200']!;
  const processMs = perResponse(processSeconds(side.pid) - processBefore);
  return { ...run, processMs, postgresMs: perResponse(processTreeSeconds(postgresPid) - postgresBefore) };
}

/** Compares with the fastest peer of the same round, so that load on the machine affects both. */
function createGoals(all: Figures[]): Goal[] {
  const others = all.filter(({ side }) => !side.startsWith('ours'));
  const own = all.filter(({ side }) => side.startsWith('ours'));
  const speedGoals = own.map(({ query, side, rates }): Goal => {
    const compared = others
      .filter((one) => one.query === query)
      .map((one) => ({ name: one.side, measured: median(rates.map((rate, n) => rate / one.rates[n]!)) }));
    const { name, measured } = compared.reduce((a, b) => (b.measured < a.measured ? b : a));
    const must = side === 'ours, cached' ? 10 : query === 'courses' ? 2 : 3;
    return { name: `${query}, ${side}, relative to ${name}`, must, measured };
  });
  const leanest = others.reduce((a, b) => (b.megabytes < a.megabytes ? b : a));
  const measured = Math.max(...own.map(({ megabytes }) => megabytes));
  return [
    ...speedGoals,
    { name: `peak MB, compared with ${leanest.side}`, must: leanest.megabytes, atMost: true as const, measured },
  ];
}

function round(figure: number) {
  return Number(figure.toFixed(1));
}
