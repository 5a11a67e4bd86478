import { fork } from 'node:child_process';
import { once } from 'node:events';
import { driveWithWrk, hasWrk } from './wrk.ts';

/** What one run sends: each body is made from the template by putting a number no other has for `{n}`, and an id in `{id}`. */
export type Load = {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  ids?: number[];
  /** Paths, perhaps with `{n}` in them, of which one is asked instead in that share of the requests. */
  others?: string[];
  othersShare?: number;
  /** What every answer that is no error is taken for: looking into each costs wrk more than receiving it. */
  status?: '200' | '304';
  connections: number;
  seconds: number;
};
export type Figures = { perSecond: number; p50: number; p99: number; statuses: Record<string, number> };

/** Sends it from a process of its own, so that the bench's own work is not in its way: wrk where it is installed, else Node. */
export async function drive(load: Load): Promise<Figures> {
  if (hasWrk) return driveWithWrk(load);
  const child = fork(new URL('driver.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  child.send(load);
  const [figures] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the driver ended'))),
  ])) as [Figures];
  return figures;
}

/**
 * Asks a new process for some seconds before it is measured: V8 makes most of its machine code in the first of them, when an
 * answer takes it up to half as much again, and a server runs for days.
 */
export async function settle(load: Omit<Load, 'seconds'>, { rounds }: { rounds: number }) {
  // A single round is to show that it works, soon.
  if (rounds > 1) await drive({ ...load, seconds: 3 });
}

/** Figures of anything but that answer would mean nothing. */
export function onlyStatus(status: string, ...all: Figures[]) {
  for (const { statuses } of all) {
    if (Object.keys(statuses).join() !== status) throw new Error(`not all were ${status}: ${JSON.stringify(statuses)}`);
  }
}
