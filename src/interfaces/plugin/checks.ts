import type { Pool } from 'pg';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../database/client.ts';

/** `skipped`: the role may not look, or there is nothing to look at. */
type Level = 'ok' | 'warning' | 'error' | 'skipped';
export type Result = { level: Level; message: string };
export type Finding = { check: string } & Result;

export type CheckContext = {
  pool: Pick<Pool, 'query'>;
  config: Config;
  database?: Database;
};

export type SystemCheck = { check: string; run: (context: CheckContext) => Promise<Result[]> | Result[] };

/** A promise of the documentation that holds only with the right configuration. */
export type Condition = { isHeld: (config: Config, connection: Connection) => boolean; otherwise: string };
export type Connection = { isEncrypted: boolean };

const toResult =
  (level: Level) =>
  (message: string): Result => ({ level, message });
export const ok = toResult('ok');
export const warning = toResult('warning');
export const error = toResult('error');
export const skipped = toResult('skipped');

/** Drops those whose condition is false. */
export const found = (results: (Result | false)[]) => results.filter((result) => result !== false);

/** `warning` and `error` are the values from which a figure has that level. */
export const byLimit = (value: number, limits: { warning: number; error: number }, message: string): Result => {
  if (value >= limits.error) return error(message);
  return value >= limits.warning ? warning(message) : ok(message);
};

export async function queryOne<Row extends object>(pool: Pick<Pool, 'query'>, text: string, values: unknown[] = []) {
  return (await pool.query<Row>(text, values)).rows[0]!;
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Such as `3 hours`, in the largest unit of which there are two. */
export function formatAge(seconds: number) {
  const [unit, length] = units.find(([, size]) => seconds >= 2 * size) ?? units.at(-1)!;
  const count = Math.floor(seconds / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

export const isLocal = (host: string) => /^(localhost|127\.|\[::1\]|$)/.test(host);

/** A socket, this machine, or a name without a dot, as hosts of a container network have. */
export function isNear(databaseUrl: string) {
  const { hostname, searchParams } = new URL(databaseUrl.replace('@/', '@localhost/'));
  return isLocal(hostname) || searchParams.has('host') || !/[.:]/.test(hostname);
}

export const minutes = 60;
export const hours = 3_600;
