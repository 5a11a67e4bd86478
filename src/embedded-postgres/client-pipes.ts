import fs from 'node:fs';
import path from 'node:path';
import { getErrorCode, sleep, randomName } from './files.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;

/** Named pipe that each process keeps open: the watchdog reads its end once the last one has ended, even by SIGKILL. */
const pipePath = (home: string) => path.join(home, 'users');

function openUsersPipe(home: string, flags: number) {
  try {
    return fs.openSync(pipePath(home), flags);
  } catch (error) {
    // ENXIO: the pipe has no reader.
    if (['ENOENT', 'ENXIO'].includes(getErrorCode(error))) return undefined;
    throw error;
  }
}

/** Writes to the watchdog; false if it does not run. */
export function ping(pipe: number, greeting = '') {
  try {
    fs.writeSync(pipe, `${greeting}\n`);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EPIPE') return false;
    if (getErrorCode(error) === 'EAGAIN') return true;
    throw error;
  }
}

/**
 * Registers as a user of the running database. Returns the open pipe, to close at the end; undefined without a watchdog.
 * Waits for the watchdog's response: one that has already read end-of-file is about to stop the database.
 */
export async function registerUser(home: string, milliseconds: number) {
  const pipe = openUsersPipe(home, O_WRONLY | O_NONBLOCK);
  if (pipe === undefined) return undefined;
  const name = randomName();
  const responseFile = path.join(home, 'seen', name);
  const end = performance.now() + milliseconds;
  for (let attempt = 0; ; attempt += 1) {
    // Repeated, since `hasUsers` of another process may have read the greeting.
    if (attempt % 20 === 0 && !ping(pipe, name)) break;
    if (fs.existsSync(responseFile)) {
      fs.rmSync(responseFile, { force: true });
      return pipe;
    }
    if (performance.now() > end) {
      fs.closeSync(pipe);
      throw new Error(`The database in ${home} is used by another process, but its watchdog does not respond.`);
    }
    await sleep(5);
  }
  fs.closeSync(pipe);
  return undefined;
}

/**
 * Opens the pipe for a new watchdog: `read` is its standard input, `write` stays open until we are registered. There is
 * never a reader without a writer, so the watchdog reads end-of-file if we are killed in between.
 */
export function openPipeForWatchdog(home: string) {
  const first = openUsersPipe(home, O_RDONLY | O_NONBLOCK)!;
  const write = openUsersPipe(home, O_WRONLY | O_NONBLOCK)!;
  const read = openUsersPipe(home, O_RDONLY)!;
  fs.closeSync(first);
  return { read, write };
}

/** True if any process has the pipe open for writing; else reading returns end-of-file. */
export function hasUsers(home: string) {
  const pipe = openUsersPipe(home, O_RDONLY | O_NONBLOCK);
  if (pipe === undefined) return false;
  try {
    // Unread greetings come before end-of-file.
    while (fs.readSync(pipe, Buffer.alloc(4096)) > 0);
    return false;
  } catch (error) {
    if (getErrorCode(error) === 'EAGAIN') return true;
    throw error;
  } finally {
    fs.closeSync(pipe);
  }
}
