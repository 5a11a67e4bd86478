import { fork, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

/**
 * Starts a server in a session of its own, as systemd and Docker do: Linux shares the processor out among sessions first
 * (`sched_autogroup`), each PostgreSQL connection being one, and would let all servers and their load have the share of one.
 */
export const startInSession = (command: string, args: string[], options: SpawnOptions) =>
  watched(spawn(command, args, { ...options, detached: true }));

/** The same for a server of this folder. */
export const forkInSession = (file: string, args: string[] = []) =>
  watched(fork(new URL(file, import.meta.url), args, { execArgv: ['--import', 'tsx'], detached: true }));

const running = new Set<ChildProcess>();

function watched(child: ChildProcess) {
  running.add(child);
  return child.once('exit', () => running.delete(child));
}

// The terminal does not reach another session.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill();
    process.kill(process.pid, signal);
  });
}
