import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/ports.ts';
import { until, type Run } from '../row.ts';
import { keepSecret, searchLater } from './secrets.ts';

export type Server = {
  base: string;
  port: number;
  pid: number;
  /** Output so far. */
  printed(): string;
  /** Exit code or signal. */
  ended: Promise<number | string>;
  hasEnded(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** Milliseconds from process start to the first 200 of /ready. */
  readyAfter: number;
};

/**
 * Starts the production server and waits for /ready; killed after the scenario. `command` replaces it in negative
 * controls.
 */
export async function startServer(
  run: Run,
  env: Record<string, string>,
  { command = [process.execPath, 'dist/main.js'], port }: { command?: string[]; port?: number } = {},
): Promise<Server> {
  const at = port ?? (await freePort());
  const begun = performance.now();
  const child = spawn(command[0]!, command.slice(1), {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: String(at),
      NODE_ENV: 'production',
      PUBLIC_REQUESTS_PER_MINUTE: '1000000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let code: number | string | undefined;
  const keep = (chunk: Buffer) => void (printed += chunk.toString());
  keepSecret(env['BOOTSTRAP_API_KEY'] ?? '');
  searchLater(() => printed);
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // Not `exit`: output may arrive after that event.
  const ended = once(child, 'close').then(
    ([status, signal]: unknown[]) => (code = (status ?? signal) as number | string),
  );
  run.afterwards(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const base = `http://127.0.0.1:${at}`;
  const isReady = async () => {
    if (code !== undefined) throw new Error(`the server ended with ${code}: ${printed}`);
    const answer = await fetch(`${base}/ready`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 200;
  };
  if ((await until(isReady, 60_000)) === Infinity) throw new Error(`the server is not ready: ${printed}`);
  return {
    ...{ base, port: at, pid: child.pid!, ended, printed: () => printed, hasEnded: () => code !== undefined },
    signal: (signal) => void child.kill(signal),
    readyAfter: performance.now() - begun,
  };
}

/** Key of the first provider, created by `BOOTSTRAP_*` in an empty database. */
export const firstKey = 'first-key-of-the-run-0123456789-0123456789-0123456789';
export const firstProvider = { BOOTSTRAP_API_KEY: firstKey, BOOTSTRAP_PROVIDER: 'Reliability School' };

/** Stops it with SIGTERM; returns the exit code. */
export async function stop(server: Server, within = 15_000) {
  server.signal('SIGTERM');
  return Promise.race([server.ended, sleep(within, 'did not end')]);
}
