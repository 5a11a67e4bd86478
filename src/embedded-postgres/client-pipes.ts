import fs from 'node:fs';
import path from 'node:path';
import { getErrorCode, pause, randomName } from './files.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;

/**
 * Who uses the database is counted by the kernel: each of our processes holds this named pipe open for writing, the
 * watchdog reads it, and its end comes when the last writer has ended, in whatever way. Node opens files close-on-exec,
 * so our children do not count.
 */
const getPipe = (home: string) => path.join(home, 'users');

function open(home: string, flags: number) {
  try {
    return fs.openSync(getPipe(home), flags);
  } catch (error) {
    // ENXIO: nobody reads.
    if (['ENOENT', 'ENXIO'].includes(getErrorCode(error))) return undefined;
    throw error;
  }
}

/** A sign of life to the watchdog; false when there is none. */
export function greet(pipe: number, greeting = '') {
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
 * Becomes a user of the running database: the open pipe, to be closed at the end; undefined when there is no watchdog.
 * It must answer: one that has already seen the pipe's end is about to stop the database.
 */
export async function join(home: string, milliseconds: number) {
  const pipe = open(home, O_WRONLY | O_NONBLOCK);
  if (pipe === undefined) return undefined;
  const name = randomName();
  const answer = path.join(home, 'seen', name);
  const end = performance.now() + milliseconds;
  for (let turn = 0; ; turn += 1) {
    // Again from time to time: `hasUsers` of another process may have read it.
    if (turn % 20 === 0 && !greet(pipe, name)) break;
    if (fs.existsSync(answer)) {
      fs.rmSync(answer, { force: true });
      return pipe;
    }
    if (performance.now() > end) {
      fs.closeSync(pipe);
      throw new Error(`The database in ${home} is used by another process, but its watchdog does not answer.`);
    }
    await pause(5);
  }
  fs.closeSync(pipe);
  return undefined;
}

/**
 * The pipe for a new watchdog: `read` for the watchdog's input, `write` to be held until we have joined. At no moment is
 * there a reader without a writer of ours, so the watchdog sees the end if we are killed half-way.
 */
export function openPipe(home: string) {
  const first = open(home, O_RDONLY | O_NONBLOCK)!;
  const write = open(home, O_WRONLY | O_NONBLOCK)!;
  const read = open(home, O_RDONLY)!;
  fs.closeSync(first);
  return { read, write };
}

/** Whether any process holds the pipe for writing: reading finds the end when there is none. */
export function hasUsers(home: string) {
  const pipe = open(home, O_RDONLY | O_NONBLOCK);
  if (pipe === undefined) return false;
  try {
    // Greetings that nobody has read yet come before the end.
    while (fs.readSync(pipe, Buffer.alloc(4096)) > 0);
    return false;
  } catch (error) {
    if (getErrorCode(error) === 'EAGAIN') return true;
    throw error;
  } finally {
    fs.closeSync(pipe);
  }
}
