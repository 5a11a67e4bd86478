import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/ports.ts';
import { waitUntil, type Cleanup } from '../scenario.ts';
import { registerSecret, registerLog } from './secrets.ts';

export type Server = {
  base: string;
  port: number;
  pid: number;
  /** Output so far. */
  output(): string;
  /** Exit code or signal. */
  ended: Promise<number | string>;
  hasEnded(): boolean;
  /** Stops reading standard output, and reads on. */
  pauseOutput(): void;
  resumeOutput(): void;
  signal(signal: NodeJS.Signals): void;
  /** Milliseconds from process start to the first 200 of /ready. */
  startupMs: number;
};

/**
 * Starts the production server and waits for /ready; killed after the scenario. `command` replaces it in negative
 * controls.
 */
export async function startServer(
  run: Cleanup,
  env: Record<string, string>,
  { command = [process.execPath, 'dist/main.js'], port }: { command?: string[]; port?: number } = {},
): Promise<Server> {
  const listenPort = port ?? (await freePort());
  const startedAt = performance.now();
  const child = spawn(command[0]!, command.slice(1), {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: String(listenPort),
      NODE_ENV: 'production',
      PUBLIC_REQUESTS_PER_MINUTE: '1000000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let code: number | string | undefined;
  const append = (chunk: Buffer) => void (output += chunk.toString());
  registerSecret(env['BOOTSTRAP_API_KEY'] ?? '');
  registerLog(() => output);
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  // Not `exit`: output may arrive after that event.
  const ended = once(child, 'close').then(
    ([status, signal]: unknown[]) => (code = (status ?? signal) as number | string),
  );
  run.onCleanup(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const base = `http://127.0.0.1:${listenPort}`;
  const isReady = async () => {
    if (code !== undefined) throw new Error(`the server exited with ${code}: ${output}`);
    const response = await fetch(`${base}/ready`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    return response?.status === 200;
  };
  if ((await waitUntil(isReady, 60_000)) === Infinity) throw new Error(`the server is not ready: ${output}`);
  return {
    ...{ base, port: listenPort, pid: child.pid!, ended, output: () => output, hasEnded: () => code !== undefined },
    pauseOutput: () => void child.stdout.pause(),
    resumeOutput: () => void child.stdout.resume(),
    signal: (signal) => void child.kill(signal),
    startupMs: performance.now() - startedAt,
  };
}

/** Key of the first provider, created by `BOOTSTRAP_*` in an empty database. */
export const firstKey = 'first-key-of-the-run-0123456789-0123456789-0123456789';
export const firstProvider = { BOOTSTRAP_API_KEY: firstKey, BOOTSTRAP_PROVIDER: 'Reliability School' };

/** Stops it with SIGTERM; returns the exit code. */
export async function stop(server: Server, timeoutMs = 15_000) {
  server.signal('SIGTERM');
  return Promise.race([server.ended, sleep(timeoutMs, 'did not exit')]);
}
