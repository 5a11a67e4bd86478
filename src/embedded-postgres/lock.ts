import fs from 'node:fs';
import { getErrorCode, pause, randomName, readIfThere, writeOnce } from './files.ts';
import { isAlive } from './processes.ts';

/** Longer than any start holds it; an older lock is one of a process whose number somebody else has by now. */
const staleMs = 60_000;

/**
 * Does `work` while no other process does work under the same lock file; undefined, without having done it, when another
 * one is at it: look again what has become of it.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
  const mine = `${process.pid} ${randomName()}`;
  if (!writeOnce(file, mine)) {
    const other = readIfThere(file);
    if (other === undefined || !isStale(file, other) || !take(file, other) || !writeOnce(file, mine)) {
      await pause(20);
      return undefined;
    }
  }
  try {
    return await work();
  } finally {
    take(file, mine);
  }
}

function isStale(file: string, lock: string) {
  const written = fs.lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return !isAlive(Number.parseInt(lock)) || Date.now() - written > staleMs;
}

/** Takes away this very lock; one that another process has put in its place goes back. */
function take(file: string, lock: string) {
  const taken = `${file}.${randomName()}`;
  try {
    fs.renameSync(file, taken);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
  const right = readIfThere(taken) === lock;
  if (!right) writeOnce(file, readIfThere(taken)!);
  fs.unlinkSync(taken);
  return right;
}
