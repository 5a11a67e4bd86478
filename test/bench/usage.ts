import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** Fields of /proc/<pid>/stat after the process name, which may contain spaces. */
function readStat(pid: number) {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const number = (n: number) => Number(fields[n]);
  return { parent: number(1), own: number(11) + number(12), endedChildren: number(13) + number(14) };
}

function tryStat(pid: number) {
  try {
    return readStat(pid);
  } catch {
    return undefined;
  }
}

export const parentOf = (pid: number) => readStat(pid).parent;

/** Processor time of a process in seconds. */
export const processSeconds = (pid: number) => readStat(pid).own / ticksPerSecond;

/** Processor time of a process and all its children, including terminated ones. */
export function processTreeSeconds(pid: number): number {
  const { own, endedChildren } = readStat(pid);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => tryStat(Number(name)));
  // Retries when a child terminates in between: it would be counted twice or not at all.
  if (readStat(pid).endedChildren !== endedChildren) return processTreeSeconds(pid);
  const ticks = children
    .filter((stat) => stat?.parent === pid)
    .reduce((sum, stat) => sum + stat!.own + stat!.endedChildren, 0);
  return (ticks + own + endedChildren) / ticksPerSecond;
}

/** Peak memory of a process in MB. */
export const peakMegabytes = (pid: number) => megabytes(pid, 'VmHWM');
export const megabytesNow = (pid: number) => megabytes(pid, 'VmRSS');

function megabytes(pid: number, name: string) {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(found?.[1] ?? 0) / 1024);
}

/** Processor time of all threads of a process, which are few; precise, unlike the ticks of `stat`. */
export const processMicroseconds = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMicroseconds(pid, thread), 0);

function threadMicroseconds(pid: number, thread: string) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
  } catch {
    return 0;
  }
}
