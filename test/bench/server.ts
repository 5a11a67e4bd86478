import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AppOptions } from '../../src/app.ts';
import { freePort } from '../support/ports.ts';
import type { Subject } from './database.ts';
import { startInSession } from './session.ts';

/** The application in this process, to record its statements. */
export const appOptions = {
  settings: { timezone: 'Europe/Oslo', defaultLanguage: 'en', publicUrl: 'http://localhost', catalogUrl: null },
  limits: { bodyBytes: 1e6, requestMs: 1e4, keepAliveMs: 1e4, invalidKeysPerMinute: 300 },
  version: 'bench',
} satisfies Omit<AppOptions, 'database'>;

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };

/** Starts a production server on that database and stops it after the work. */
export async function withServer<T>(
  { url }: Subject,
  environment: Record<string, string>,
  work: (server: { base: string; pid: number }) => Promise<T>,
  { stdout = 'inherit' }: { stdout?: 'inherit' | 'ignore' } = {},
): Promise<T> {
  const port = await freePort();
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: url,
  };
  // `exec` replaces the shell, so that the child's pid is the server's.
  const child = startInSession('sh', ['-c', scripts.start], {
    env: { ...env, LOG_LEVEL: 'error', NODE_ENV: 'production', ...environment },
    stdio: ['ignore', stdout, 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const base = `http://127.0.0.1:${port}`;
    await Promise.race([isReady(base), ended.then(() => Promise.reject(new Error('the server exited')))]);
    return await work({ base, pid: child.pid! });
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

export async function isReady(base: string) {
  for (;;) {
    const response = await fetch(`${base}/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
