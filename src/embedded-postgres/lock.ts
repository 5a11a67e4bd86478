import fs from 'node:fs';
import { getErrorCode, sleep, randomName, readIfExists, createFile } from './files.ts';
import { isAlive } from './processes.ts';

/** Longer than any start; the process id of an older lock has been reused. */
const staleMs = 60_000;

/** Runs `work` under an exclusive lock file; undefined, without running it, if another process has the lock. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
  const ownId = `${process.pid} ${randomName()}`;
  if (!createFile(file, ownId)) {
    const otherId = readIfExists(file);
    if (otherId === undefined || !isStale(file, otherId) || !remove(file, otherId) || !createFile(file, ownId)) {
      await sleep(20);
      return undefined;
    }
  }
  try {
    return await work();
  } finally {
    remove(file, ownId);
  }
}

function isStale(file: string, lock: string) {
  const written = fs.lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return !isAlive(Number.parseInt(lock)) || Date.now() - written > staleMs;
}

/** Removes the lock if it is the expected one; restores it if another process has replaced it. */
function remove(file: string, lock: string) {
  const moved = `${file}.${randomName()}`;
  try {
    fs.renameSync(file, moved);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
  const isExpected = readIfExists(moved) === lock;
  if (!isExpected) createFile(file, readIfExists(moved)!);
  fs.unlinkSync(moved);
  return isExpected;
}
