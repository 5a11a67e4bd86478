import { spawnSync } from 'node:child_process';
import { hasWrk } from './wrk.ts';

/** Debian's client alone has a `pgbench` that only says that it is missing, so it is run. Says before any work what has to be installed, and what had better be. */
export function needTools({ isPgbenchNeeded = true } = {}) {
  if (isPgbenchNeeded && spawnSync('pgbench', ['--version']).status !== 0) {
    throw new Error('pgbench is missing: apt-get install postgresql-contrib');
  }
  if (!hasWrk) console.log('wrk is missing, so a driver in Node takes as much as the server: apt-get install wrk');
}
