import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { ping, hasUsers, registerUser } from './client-pipes.ts';
import { checkSocketFolder, locateDataFolder, isInitialized, type DataFolder } from './data-folder.ts';
import { getErrorCode, sleep, randomName, readIfExists, createFile } from './files.ts';
import { isAlive, waitUntil } from './processes.ts';
import { startWatchdog, findWatchdogPid, type ServerOptions } from './watchdog.ts';

export { isInitialized };

type EmbeddedDatabase = {
  connection: ReturnType<typeof toConnection>;
  /** Messages for the console at start. */
  notes: string[];
  /** Disconnects; for the last user it resolves only after the database has stopped. */
  stop(): Promise<void>;
};

/** Opens the PostgreSQL that processes with one DATA_DIR share; `watchdog.sh` stops it after the last has ended. */
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

/** Longer than any start; the process id of an older lock has been reused. */
const staleMs = 60_000;

/** Runs `work` under an exclusive lock file; undefined, without running it, if another process has the lock. */
async function withLock<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
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

/** Port and encryption are explicit, since PGPORT and PGSSLMODE would override the defaults. */
const toConnection = ({ socket }: DataFolder) => ({
  host: socket,
  port: 5432,
  user: 'booking',
  database: 'booking',
  ssl: false,
});

type Connection = ReturnType<typeof toConnection>;

async function tryStatement(connection: Connection, statement: string) {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
    return '';
  } catch (error) {
    return getErrorCode(error) || String(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A start that changes no file for this long is given up; a first one on a busy machine may take minutes. */
const stalledMs = 60_000;

const isData = (name: string) => name.startsWith('data') || name === 'postgres.log';

/** Differs while the server, or `initdb` in a new folder, writes: number and size of the files, and size of the log. */
function measureProgress({ home }: DataFolder) {
  try {
    let bytes = 0;
    const names = fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(isData);
    for (const name of names) bytes += fs.statSync(path.join(home, name), { throwIfNoEntry: false })?.size ?? 0;
    return `${names.length} ${bytes}`;
  } catch {
    // The folder is not there yet, or belongs to another user.
    return '';
  }
}

/** Waits until the server accepts queries, and creates our database; false once `isStarting` returns false. */
async function waitUntilReady(place: DataFolder, isStarting: () => boolean) {
  const connection = toConnection(place);
  let end = performance.now() + stalledMs;
  let progress = '';
  let nextLook = 0;
  for (;;) {
    const code = await tryStatement(connection, 'select 1');
    if (code === '') return true;
    if (code === '3D000')
      await tryStatement({ ...connection, database: 'postgres' }, 'create database booking template template0');
    if (performance.now() > nextLook) {
      const now = measureProgress(place);
      // Starting up: crash recovery has no time limit.
      if (code === '57P03' || now !== progress) end = performance.now() + stalledMs;
      progress = now;
      nextLook = performance.now() + 1_000;
    }
    if (!isStarting()) return false;
    if (performance.now() > end) throw new Error(describeStartFailure(place));
    await sleep(10);
  }
}

/** Responses to early connections, not causes of a failed start. */
const expectedErrors = /starting up|shutting down|"booking" does not exist/;

/** One sentence on a failed start, with the last error of the server's log. */
function describeStartFailure({ home, log }: DataFolder) {
  let cause = '';
  try {
    const last = fs.readFileSync(log, 'utf8').split('--- start').at(-1)!;
    const causes = last
      .split('\n')
      .filter((line) => /FATAL|PANIC|error:|^initdb:/.test(line) && !expectedErrors.test(line));
    cause = causes.at(-1) ?? '';
  } catch {
    // No log, no cause.
  }
  const { bavail, bsize } = fs.statfsSync(home);
  const full = bavail * bsize < 64 * 2 ** 20 ? 'its disk is nearly full. ' : '';
  return `The database in ${home} does not start: ${full}${cause.trim() || 'the server gives no reason'} (see ${log})`;
}
