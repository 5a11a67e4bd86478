import fs from 'node:fs';
import path from 'node:path';
import { getConnection, getFailure, waitForAnswer } from './health-check.ts';
import { withLock } from './lock.ts';
import { checkSocketFolder, findPlace, isMade, type Place } from './data-folder.ts';
import { isAlive, until } from './processes.ts';
import { greet, hasUsers, join } from './client-pipes.ts';
import { startWatchdog, toWatchdogOptions, type Tuning } from './watchdog.ts';

export { isMade };

export type EmbeddedDatabase = {
  connection: ReturnType<typeof getConnection>;
  /** Lines to show to a person at the start. */
  notes: string[];
  /** Lets go; when we were the last user, resolves only after the database has stopped. */
  stop(): Promise<void>;
};

/**
 * A PostgreSQL of our own under DATA_DIR, shared by our processes: the first one starts it, and it is stopped when the
 * last one ends, in whatever way. A small shell process, the watchdog, sees to both; see `watchdog.ts` and `users.ts`.
 */
export async function openEmbeddedDatabase({
  dataDir,
  ...tuning
}: { dataDir: string } & Tuning): Promise<EmbeddedDatabase> {
  if (!['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`The built-in database runs on Linux and macOS, not on ${process.platform}: set DATABASE_URL.`);
  }
  const place = await findPlace(path.resolve(dataDir));
  let pipe = await use(place, tuning);

  // The watchdog restarts the server; this, should the watchdog itself have been killed, the watchdog.
  let mending: Promise<unknown> | undefined;
  let next = 0;
  const heartbeat = setInterval(() => {
    if (mending || isHeard(pipe) || performance.now() < next || !fs.existsSync(place.data)) return;
    next = performance.now() + 10_000;
    mending = use(place, tuning)
      .then((again) => {
        fs.closeSync(pipe);
        pipe = again;
      })
      .catch(() => undefined)
      .finally(() => (mending = undefined));
  }, 1000).unref();

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(heartbeat);
    await mending;
    await letGo(place, pipe);
  };
  return { connection: getConnection(place), notes: place.notes, stop: () => (stopped ??= stop()) };
}

/** Becomes a user, starting the database if need be; the open pipe, when the database answers. */
async function use(place: Place, tuning: Tuning) {
  const end = performance.now() + 60_000;
  for (;;) {
    const { pipe, started } = await joinOrStart(place, tuning, end);
    try {
      checkSocketFolder(place);
      if (await waitForAnswer(place, () => greet(pipe))) return pipe;
      // One that others had started may just have been killed.
      if (started || performance.now() > end) throw new Error(getFailure(place));
      fs.closeSync(pipe);
    } catch (error) {
      fs.closeSync(pipe);
      throw error;
    }
  }
}

function isHeard(pipe: number) {
  try {
    return greet(pipe);
  } catch {
    return false;
  }
}

async function joinOrStart(place: Place, tuning: Tuning, end: number) {
  for (;;) {
    const pipe = await join(place.home, 30_000);
    if (pipe !== undefined) return { pipe, started: false };
    const own = await withLock(path.join(place.home, 'start.lock'), async () => {
      // Somebody else may have started it while we came by the lock.
      const others = await join(place.home, 30_000);
      if (others !== undefined) return { pipe: others, started: false };
      const existing = await startWatchdog(place, tuning);
      try {
        const joined = await join(place.home, 10_000);
        if (joined === undefined) throw new Error(getFailure(place));
        return { pipe: joined, started: true };
      } finally {
        fs.closeSync(existing);
      }
    });
    if (own) return own;
    if (performance.now() > end) throw new Error(getFailure(place));
  }
}

async function letGo(place: Place, pipe: number) {
  const watchdog = toWatchdogOptions(place.home);
  fs.closeSync(pipe);
  if (hasUsers(place.home) || watchdog === undefined) return;
  await until(() => !isAlive(watchdog), 10_000);
}
