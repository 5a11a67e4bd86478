import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { pause } from './files.ts';

/** The user as which a process runs; undefined is our own. */
export type Owner = { uid: number; gid: number } | undefined;

/** What our children see: nothing of the environment that could change PostgreSQL's behaviour (PGPORT, LANG, TZ …). */
export const childEnvironment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end; `failure` is the last line of what it complained about. */
export function run(owner: Owner, program: string, args: string[]) {
  return new Promise<{ output: string; failure?: string }>((resolve) => {
    // Our own working folder may be one that the other user cannot enter.
    execFile(program, args, { ...owner, cwd: '/', env: childEnvironment }, (error, output, complaint) => {
      const failure = error ? complaint.trim().split('\n').at(-1) || error.message : undefined;
      resolve({ output: output.trim(), failure });
    });
  });
}

/** Whether a process runs; one that ended and was not fetched by its parent does not. */
export function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return false;
  }
}

/** Whether the process is a PostgreSQL server on this data folder, not one that got the same number later. */
export async function isServerOf(data: string, pid: number) {
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

/** Asks again and again until it is so; false when the time is over. */
export async function until(so: () => boolean | Promise<boolean>, milliseconds: number) {
  const end = performance.now() + milliseconds;
  while (!(await so())) {
    if (performance.now() > end) return false;
    await pause(10);
  }
  return true;
}
