import { type Command, InvalidArgumentError } from 'commander';
import { Client } from 'pg';
import { readConfig, type Config } from '../config.ts';
import type { Ctx } from '../core/context.ts';
import { readMoment } from '../lib/timestamps.ts';
import { Problem } from '../core/errors.ts';
import { asTitle, isTitle } from '../lib/text.ts';
import type { Database } from '../database/client.ts';
import { isMigrated, migrateDatabase } from '../database/migrate.ts';
import { raiseOomScore } from '../runtime/oom-score.ts';
import { openStore, toSettings, waitForDatabase, type Store, type StoreOptions } from '../runtime/store.ts';
import { createContext } from '../resources/schools/provider-service.ts';

export type Connected = { config: Config; database: Database; getCtx(providerId: number): Promise<Ctx> };
/** What a command answers: an object or a list for `--json`, the same in words, and why it ends as failed all the same. */
export type Answer = { json: unknown; text: string; failure?: string };

/** Declares a command that can answer programs as well; its options hold its whole name, for the audit log. */
export const command = (parent: Command, name: string, description: string) =>
  parent
    .command(name)
    .description(description)
    .option('--json', 'print exactly one JSON value')
    .setOptionValue('command', parent.parent ? `${parent.name()} ${name}` : name);

export type Options = { json?: boolean; command: string };

/**
 * Runs work with the database up and migrated; where no server runs, the embedded one is started for it. It is not made:
 * with a wrong environment an empty one would be asked, and all would seem to be well.
 */
export async function run(
  { json, command: action }: Options,
  work: (connected: Connected) => Promise<Answer>,
  how: StoreOptions = {},
) {
  const config = readConfig(process.env);
  raiseOomScore(config);
  for (const warning of config.warnings) console.error(`warning: ${warning}`);
  // Nobody behind it waits, so it may wait longer for a connection than a request.
  const acquireMs = Math.max(10_000, config.POOL_ACQUIRE_TIMEOUT_MS);
  const store = await openStore(config, () => undefined, { mayCreate: false, acquireMs, ...how });
  const stop: { signal?: string } = {};
  try {
    const database = store.database.withAudit({ actor: 'operator', actorId: null, action });
    await waitForDatabase(database, config.DATABASE_CONNECT_TIMEOUT_MS);
    if (how.poolSize === 1) {
      await refusePooler(store);
      await endOnSignal(store, stop);
    }
    if (!(await isMigrated(database.pool))) {
      // The embedded database is nobody else's; an operator's own is migrated when the operator says so.
      if (config.DATABASE_URL !== undefined)
        throw new Problem('invalid', 'The database is not migrated yet: run `migrate`');
      await migrateDatabase(store.connection);
    }
    const getCtx = (providerId: number) => createContext(database, toSettings(config), providerId);
    const answer = await work({ config, database, getCtx });
    print(json, answer);
    if (answer.failure !== undefined) throw new Problem('invalid', answer.failure);
  } catch (error) {
    throw stop.signal === undefined ? error : new Problem('unavailable', `stopped by ${stop.signal}`);
  } finally {
    await store.close();
  }
}

/** A pooler greets with process ids of its own, and a transaction pooler hands the session's table and lock to others. */
async function refusePooler({ connection }: Store) {
  const client = new Client({ ...connection, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if ((client as { processID?: number }).processID !== rows[0]!.pid)
      throw new Problem('invalid', 'This needs one session: DATABASE_URL must name PostgreSQL itself, not a pooler');
  } finally {
    await client.end();
  }
}

/** Ends the one session in the database: a statement of a connection that is only cut off would run on and hold its locks. */
async function endOnSignal({ connection, database }: Store, stop: { signal?: string }) {
  const { rows } = await database.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const end = async (signal: string) => {
    if (stop.signal !== undefined) process.exit(1);
    stop.signal = signal;
    const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await client.end();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void end(signal).catch(() => process.exit(1)));
}

export function print(asJson: boolean | undefined, { json, text }: Answer) {
  if (asJson) console.log(JSON.stringify(json));
  else if (text !== '') console.log(text);
}

/** Columns under their names, for people. */
export function table(rows: Record<string, string | number | null>[], none: string) {
  if (rows.length === 0) return none;
  const names = Object.keys(rows[0]!);
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '-')))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const id = (text: string) => {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError('It must be an id, a whole number from 1.');
  return Number(text);
};
export const count = (text: string) => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
};
export const title = (text: string) => {
  const given = asTitle(text);
  if (!isTitle(given)) throw new InvalidArgumentError('It must have 1 to 255 characters.');
  return given;
};
export const slug = (text: string) => {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text)) throw new InvalidArgumentError('It must be like-this-1.');
  return text;
};
export const moment = (text: string) => {
  const read = readMoment(text);
  if (read === undefined)
    throw new InvalidArgumentError('It must be a date such as 2027-01-31 or 2027-01-31 12:00:00.');
  return read;
};
