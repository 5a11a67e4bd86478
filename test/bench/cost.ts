import { writeFileSync } from 'node:fs';
import type { Subject } from './database.ts';
import { median } from './figures.ts';
import { runLoad, assertStatus, type Load } from './load.ts';
import { peakMegabytes, processSeconds, processTreeSeconds } from './usage.ts';

/** Rate, latency in ms, processor time per response in ms, and peak memory in MB. */
export type Cost = {
  perSecond: number;
  p50: number;
  p99: number;
  nodeMs: number;
  postgresMs: number;
  megabytes: number;
};

/** Runs the loads concurrently against these server processes; every response must have the status. */
export async function measureCost(subject: Subject, pids: number[], status: string, ...loads: Load[]): Promise<Cost> {
  // Resets the peak memory counter (VmHWM).
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const node = () => pids.reduce((sum, pid) => sum + processSeconds(pid), 0);
  const [nodeBefore, postgresBefore] = [node(), processTreeSeconds(subject.pid)];
  const all = await Promise.all(loads.map((load) => runLoad(load)));
  const [nodeSeconds, postgresSeconds] = [node() - nodeBefore, processTreeSeconds(subject.pid) - postgresBefore];
  assertStatus(status, ...all);
  const count = all.reduce((sum, { statuses }) => sum + statuses[status]!, 0);
  return {
    perSecond: all.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50: Math.max(...all.map(({ p50 }) => p50)),
    p99: Math.max(...all.map(({ p99 }) => p99)),
    nodeMs: (nodeSeconds * 1_000) / count,
    postgresMs: (postgresSeconds * 1_000) / count,
    megabytes: Math.max(...pids.map(peakMegabytes)),
  };
}

export const totalMs = ({ nodeMs, postgresMs }: Pick<Cost, 'nodeMs' | 'postgresMs'>) => nodeMs + postgresMs;

export function medians<Run extends Record<string, number>>(runs: Run[]): Run {
  const names = Object.keys(runs[0]!);
  return Object.fromEntries(names.map((name) => [name, median(runs.map((run) => run[name]!))])) as Run;
}

export const toColumns = (cost: Cost) => ({
  ...{ 'per s': Math.round(cost.perSecond), 'p50 ms': round(cost.p50), 'p99 ms': round(cost.p99) },
  ...{ 'Node ms': round(cost.nodeMs), 'PostgreSQL ms': round(cost.postgresMs), 'peak MB': cost.megabytes },
});

export const round = (figure: number) => Number(figure.toFixed(2));
export const percent = (share: number) => `${Math.round(share * 100)} %`;
