import fs from 'node:fs';
import path from 'node:path';
import { toConnection, describeStartFailure, waitUntilReady } from './health-check.ts';
import { withLock } from './lock.ts';
import { checkSocketFolder, locateDataFolder, isInitialized, type DataFolder } from './data-folder.ts';
import { isAlive, waitUntil } from './processes.ts';
import { ping, hasUsers, registerUser } from './client-pipes.ts';
import { startWatchdog, findWatchdogPid, type ServerOptions } from './watchdog.ts';

export { isInitialized };

export type EmbeddedDatabase = {
  connection: ReturnType<typeof toConnection>;
  /** Messages for the console at start. */
  notes: string[];
  /** Disconnects; for the last user it resolves only after the database has stopped. */
  stop(): Promise<void>;
};

/**
 * Opens the embedded PostgreSQL under DATA_DIR, which our processes share: the first one starts it, and a watchdog process
 * stops it once the last one has ended, even by SIGKILL. See `watchdog.sh` and `client-pipes.ts`.
 */
export async function openEmbeddedDatabase({
  dataDir,
  ...tuning
}: { dataDir: string } & ServerOptions): Promise<EmbeddedDatabase> {
  if (!['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`The built-in database runs on Linux and macOS, not on ${process.platform}: set DATABASE_URL.`);
  }
  const place = await locateDataFolder(path.resolve(dataDir));
  let pipe = await connectOrStart(place, tuning);

  // The watchdog restarts the server; this timer restarts a killed watchdog.
  let recovery: Promise<unknown> | undefined;
  let nextAttempt = 0;
  const heartbeat = setInterval(() => {
    if (recovery || isWatchdogAlive(pipe) || performance.now() < nextAttempt || !fs.existsSync(place.data)) return;
    nextAttempt = performance.now() + 10_000;
    recovery = connectOrStart(place, tuning)
      .then((newPipe) => {
        fs.closeSync(pipe);
        pipe = newPipe;
      })
      .catch(() => undefined)
      .finally(() => (recovery = undefined));
  }, 1000).unref();

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(heartbeat);
    await recovery;
    await disconnect(place, pipe);
  };
  return { connection: toConnection(place), notes: place.notes, stop: () => (stopped ??= stop()) };
}

/** Registers as a user, starting the database if necessary. Returns the open pipe once the database is ready. */
async function connectOrStart(place: DataFolder, tuning: ServerOptions) {
  const end = performance.now() + 60_000;
  for (;;) {
    const { pipe, started } = await registerOrStart(place, tuning, end);
    try {
      checkSocketFolder(place);
      if (await waitUntilReady(place, () => ping(pipe))) return pipe;
      // A database that another process started may just have been killed.
      if (started || performance.now() > end) throw new Error(describeStartFailure(place));
      fs.closeSync(pipe);
    } catch (error) {
      fs.closeSync(pipe);
      throw error;
    }
  }
}

function isWatchdogAlive(pipe: number) {
  try {
    return ping(pipe);
  } catch {
    return false;
  }
}

async function registerOrStart(place: DataFolder, tuning: ServerOptions, end: number) {
  for (;;) {
    const pipe = await registerUser(place.home, 30_000);
    if (pipe !== undefined) return { pipe, started: false };
    const result = await withLock(path.join(place.home, 'start.lock'), async () => {
      // Another process may have started it in the meantime.
      const pipeOfOther = await registerUser(place.home, 30_000);
      if (pipeOfOther !== undefined) return { pipe: pipeOfOther, started: false };
      const startPipe = await startWatchdog(place, tuning);
      try {
        const pipeOfOwn = await registerUser(place.home, 10_000);
        if (pipeOfOwn === undefined) throw new Error(describeStartFailure(place));
        return { pipe: pipeOfOwn, started: true };
      } finally {
        fs.closeSync(startPipe);
      }
    });
    if (result) return result;
    if (performance.now() > end) throw new Error(describeStartFailure(place));
  }
}

async function disconnect(place: DataFolder, pipe: number) {
  const watchdog = findWatchdogPid(place.home);
  fs.closeSync(pipe);
  if (hasUsers(place.home) || watchdog === undefined) return;
  await waitUntil(() => !isAlive(watchdog), 10_000);
}
