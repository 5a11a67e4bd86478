import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../../reliability/scenario.ts';
import { binaries } from './packages.ts';

export type Program = {
  pid: number;
  hasEnded(): boolean;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
};

const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
/** Patroni, PostgreSQL and PgBouncer do not run as root. */
export const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

export const programOptions = (folder: string) => ({
  ...owner,
  cwd: folder,
  env: { HOME: folder, PATH: `${binaries}:/usr/sbin:/usr/bin:/bin`, LC_ALL: 'C.UTF-8' },
});

/** Starts a program in a process group of its own; killed after the scenario. */
export function startProgram(
  run: Run,
  folder: string,
  name: string,
  [command, ...args]: [string, ...string[]],
  variables: Record<string, string> = {},
): Program {
  const options = programOptions(folder);
  // The file itself, not a pipe: what the program has started may write after the program was killed.
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(command, args, {
    ...options,
    env: { ...options.env, ...variables },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let hasEnded = false;
  const ended = once(child, 'exit').then(() => (hasEnded = true));
  const end = async (signal: NodeJS.Signals) => {
    if (!hasEnded) child.kill(signal);
    await ended;
  };
  run.onCleanup(async () => {
    killGroup(child.pid!);
    await ended;
  });
  return { pid: child.pid!, hasEnded: () => hasEnded, end };
}

/** Kills what a program has started, too, such as the copy of a database by Patroni. */
function killGroup(leader: number) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All have ended.
  }
}
