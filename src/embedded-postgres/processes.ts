import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { getErrorCode, sleep } from './files.ts';

/** User of a child process; undefined is our own. */
export type Owner = { uid: number; gid: number } | undefined;

/** Environment of child processes, without variables that affect PostgreSQL (PGPORT, LANG, TZ …). */
export const childEnvironment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end; `failure` is the last line of its standard error. */
export function run(owner: Owner, program: string, args: string[]) {
  return new Promise<{ output: string; failure?: string }>((resolve) => {
    // The other user may not have access to our working folder.
    execFile(program, args, { ...owner, cwd: '/', env: childEnvironment }, (error, output, stderr) => {
      const failure = error ? stderr.trim().split('\n').at(-1) || error.message : undefined;
      resolve({ output: output.trim(), failure });
    });
  });
}

/** True if a process runs; false for zombies. */
export function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (getErrorCode(error) === 'ESRCH') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return false;
  }
}

/** True if the process is a PostgreSQL server on this data folder, not another one with a reused id. */
export async function isDatabaseServer(data: string, pid: number) {
  if (process.platform === 'linux') {
    try {
      return (
        fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(data) &&
        /^postgres/.test(fs.readFileSync(`/proc/${pid}/comm`, 'utf8'))
      );
    } catch {
      return false;
    }
  }
  const { output } = await run(undefined, 'ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return output.includes(`/postgres -D ${data} `);
}

/** Polls every 10 ms; false after the timeout. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, milliseconds: number) {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) return false;
    await sleep(10);
  }
  return true;
}
