import { fork, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

/**
 * Starts a process in a new session, as systemd and Docker do. With `sched_autogroup` Linux shares the processor per
 * session, and each PostgreSQL backend has its own: servers and load would otherwise share one.
 */
export const startInSession = (command: string, args: string[], options: SpawnOptions) =>
  track(spawn(command, args, { ...options, detached: true }));

/** Starts a Node program of this folder in a new session. */
export const forkInSession = (file: string, args: string[] = []) =>
  track(fork(new URL(file, import.meta.url), args, { execArgv: ['--import', 'tsx'], detached: true }));

const running = new Set<ChildProcess>();

function track(child: ChildProcess) {
  running.add(child);
  return child.once('exit', () => running.delete(child));
}

// Ctrl-C does not reach another session.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill();
    process.kill(process.pid, signal);
  });
}
