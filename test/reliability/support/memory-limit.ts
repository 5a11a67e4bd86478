import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import type { Run } from '../scenario.ts';

const root = '/sys/fs/cgroup';

/** A control group (version 2) with that limit and no swap, as of a container; undefined where none can be made. */
export function createMemoryGroup(run: Run, megabytes: number): string | undefined {
  const folder = `${root}/booking-reliability-${process.pid}`;
  try {
    // Elsewhere the folder would be an ordinary one, without a limit.
    if (!readFileSync(`${root}/cgroup.subtree_control`, 'utf8').split(/\s/).includes('memory')) return undefined;
    mkdirSync(folder);
    run.onCleanup(() => rmdirSync(folder));
    writeFileSync(`${folder}/memory.max`, String(megabytes * 1_048_576));
    writeFileSync(`${folder}/memory.swap.max`, '0');
    return folder;
  } catch {
    return undefined;
  }
}

/** The command within the control group. */
export const inGroup = (folder: string, command: string[]) => [
  ...['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', folder],
  ...command,
];
