import { spawnSync } from 'node:child_process';
import { hasWrk } from './wrk.ts';

/**
 * Checks the required programs before the run. pgbench is executed because Debian's client package contains a wrapper
 * that fails.
 */
export function requireTools({ isPgbenchNeeded = true } = {}) {
  if (isPgbenchNeeded && spawnSync('pgbench', ['--version']).status !== 0) {
    throw new Error('pgbench is missing: apt-get install postgresql-contrib');
  }
  if (!hasWrk)
    console.log('wrk is missing; the Node load generator uses as much CPU as the server: apt-get install wrk');
}
