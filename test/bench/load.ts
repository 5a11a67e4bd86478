import { fork } from 'node:child_process';
import { once } from 'node:events';
import { driveWithWrk, hasWrk } from './wrk.ts';

/** Load of one run; in each body `{n}` becomes a unique number and `{id}` one of the ids. */
export type Load = {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  ids?: number[];
  /** Alternative paths, perhaps with `{n}`, for that share of the requests. */
  others?: string[];
  othersShare?: number;
  /** Status assumed for every successful response: parsing each costs wrk more than receiving it. */
  status?: '200' | '304';
  connections: number;
  seconds: number;
};
export type Figures = { perSecond: number; p50: number; p99: number; statuses: Record<string, number> };

/** Generates load from a separate process: wrk if installed, otherwise Node. */
export async function runLoad(load: Load): Promise<Figures> {
  if (hasWrk) return driveWithWrk(load);
  const child = fork(new URL('driver.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  child.send(load);
  const [figures] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the load generator exited'))),
  ])) as [Figures];
  return figures;
}

/** Warms up a new process: V8 compiles most code in the first seconds, when a response costs up to 50 % more. */
export async function warmUp(load: Omit<Load, 'seconds'>, { rounds }: { rounds: number }) {
  // A single round is only a smoke test.
  if (rounds > 1) await runLoad({ ...load, seconds: 3 });
}

/** Rates of any other status would be meaningless. */
export function assertStatus(status: string, ...all: Figures[]) {
  for (const { statuses } of all) {
    if (Object.keys(statuses).join() !== status)
      throw new Error(`unexpected statuses instead of ${status}: ${JSON.stringify(statuses)}`);
  }
}
