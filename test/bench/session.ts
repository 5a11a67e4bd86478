import { spawn, type SpawnOptions } from 'node:child_process';

/**
 * Starts a server in a session of its own, as systemd and Docker do: Linux shares the processor out among sessions first
 * (`sched_autogroup`), each PostgreSQL connection being one, and would let all servers and their load have the share of one.
 */
export function startInSession(command: string, args: string[], options: SpawnOptions) {
  const child = spawn(command, args, { ...options, detached: true });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const running = new Set<ReturnType<typeof spawn>>();

// The terminal does not reach another session.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill();
    process.kill(process.pid, signal);
  });
}
