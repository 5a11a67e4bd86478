import { pause } from '../../reliability/scenario.ts';
import type { Checks } from '../../reliability/support/checks.ts';
import { addSchools, type School } from '../../reliability/support/school.ts';
import type { Run } from '../../reliability/scenario.ts';
import {
  areAllAcknowledged,
  compareWrites,
  comparisonChecks,
  startWriters,
  type Comparison,
  type Writers,
} from '../../reliability/support/writers.ts';
import { startCluster, startServers, type ServedCluster } from './cluster.ts';
import type { Fault } from './faults.ts';
import { watchSeats, type SeatWatch } from './seats.ts';

/** A cluster with servers and schools, and all writes so far. */
type LoadedCluster = { cluster: ServedCluster; schools: School[]; before: Writers[] };

export async function startLoadedCluster(run: Run, options: { synchronous?: boolean } = {}): Promise<LoadedCluster> {
  const cluster = await startCluster(run, options);
  const schools = await addSchools(run, cluster.directUrl, 4);
  return { cluster: await startServers(run, cluster), schools, before: [] };
}

export type Observation = {
  outageMs: number;
  writers: Writers;
  seats: SeatWatch;
  comparison: Comparison;
  acknowledged: number;
  /** Responses to writes that were repeated. */
  refused: number;
  /** Servers that ended by themselves. */
  ended: number;
  /** Values that the fault should have changed and did not. */
  unchanged: string[];
  /** Transactions on the standbys after the repair. */
  standbyCommits: number;
};

/** Books without a pause, and reads, while a fault is injected and repaired; compares the database afterwards. */
export async function observeFault(loaded: LoadedCluster, fault: Fault): Promise<Observation> {
  const { cluster, schools, before } = loaded;
  const base = () => cluster.base;
  const name = `load-${before.length}`;
  const startedAt = performance.now();
  const writers = startWriters(schools, { base, name, count: 8, pauseMs: 200, uncertain: [502, 504] });
  const seats = watchSeats(schools, cluster.base, writers, before);
  await pause(3_000);
  const valuesBefore = await readChanges(fault, cluster);
  const repair = await fault.inject(cluster);
  await pause(fault.observeMs);
  const values = await readChanges(fault, cluster);
  if (typeof repair === 'function') await repair();
  await cluster.waitUntilComplete();
  const commitsBefore = await cluster.standbyCommits();
  await pause(3_000);
  const standbyCommits = (await cluster.standbyCommits()) - commitsBefore;
  const endedAt = performance.now();
  await seats.stop();
  await writers.stop();
  before.push(writers);
  const written = {
    bookings: before.flatMap(({ written }) => written.bookings),
    courses: before.flatMap(({ written }) => written.courses),
  };
  const env = { DATABASE_URL: cluster.directUrl };
  const comparison = await compareWrites({ postgres: cluster, env }, written);
  const refused = [...writers.statuses].filter(([status]) => status >= 500 || status === 0);
  return {
    ...{ writers, seats, comparison, standbyCommits },
    unchanged: Object.keys(values).filter((name) => values[name] === valuesBefore[name]),
    outageMs: Math.round(
      longestGap([startedAt, ...writers.acknowledgedAt.filter((moment) => moment < endedAt), endedAt]),
    ),
    acknowledged: writers.acknowledgedAt.length,
    refused: refused.reduce((sum, [, count]) => sum + count, 0),
    ended: cluster.servers.filter((server) => server.hasEnded()).length,
  };
}

async function readChanges({ changes = {} }: Fault, cluster: ServedCluster) {
  const values: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(changes)) values[name] = await read(cluster);
  return values;
}

function longestGap(moments: number[]) {
  const sorted = moments.toSorted((a, b) => a - b);
  return sorted.reduce((longest, moment, n) => Math.max(longest, moment - (sorted[n - 1] ?? moment)), 0);
}

export function checksOf(fault: Fault, seen: Observation): Checks {
  const { writers, seats, comparison } = seen;
  const failed = seats.failed.length + seen.refused;
  const checks = {
    ...comparisonChecks(comparison),
    [`no response is stale (${seats.stale[0]})`]: seats.stale.length === 0,
    [`an ETag has one list (${seats.ambiguous[0]})`]: seats.ambiguous.length === 0,
    [`no unexpected response (${writers.unexpectedResponses[0]})`]: writers.unexpectedResponses.length === 0,
    'every write is acknowledged in the end': areAllAcknowledged(writers.written),
    'no server ends': seen.ended === 0,
    'the lists were read': seats.reads > 50,
    [`the standbys answer lists after the repair (${seen.standbyCommits} do)`]: seen.standbyCommits > 20,
    [`the fault has an effect (unchanged: ${seen.unchanged.join(', ')})`]: seen.unchanged.length === 0,
    [`the fault has an effect (writes pause for only ${seen.outageMs} ms)`]: seen.outageMs >= (fault.minOutageMs ?? 0),
    ...(fault.isHitless ? { [`no request fails (${failed} do, ${seats.failed[0]})`]: failed === 0 } : {}),
  };
  return {
    strict: named(fault, checks),
    timing: named(fault, {
      [`writes pause for ${fault.outageMs / 1_000} s at most, not ${seen.outageMs} ms`]:
        seen.outageMs <= fault.outageMs,
    }),
  };
}

const named = ({ name }: Fault, checks: Record<string, boolean>) =>
  Object.fromEntries(Object.entries(checks).map(([check, holds]) => [`${name}: ${check}`, holds]));
