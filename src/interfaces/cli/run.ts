import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { Client } from 'pg';
import { readConfig, toSettings, type Config } from '../../core/config.ts';
import { itemAt, Problem } from '../../core/errors.ts';
import { normalizeTitle, isTitle } from '../../core/text.ts';
import { parseTimestamp } from '../../core/timestamps.ts';
import type { Database } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { isMigrated, migrateDatabase } from '../../database/migrate.ts';
import { findMigrationDifferences } from '../../database/migration-history.ts';
import { isPooled } from '../../database/pooler.ts';
import { assertReleaseIsSupported } from '../../database/releases.ts';
import { openStore, waitForDatabase, type Store, type StoreOptions } from '../../database/store.ts';
import { createContext } from '../../domains/school/schools/service.ts';
import type { Plugin } from '../plugin/define-plugin.ts';

export type CommandContext = {
  config: Config;
  database: Database;
  connection: Store['connection'];
  getCtx(providerId: number): Promise<Ctx>;
};
/** `json` is printed with `--json`, else `text`; with a `failure` the command still exits with 1. */
export type CommandResult = { json: unknown; text: string; failure?: string };

/** Adds a command with `--json`. */
export const command = (parent: Command, name: string, description: string) =>
  parent
    .command(name)
    .description(description)
    .option('--json', 'print the result as one JSON value')
    .setOptionValue('command', parent.parent ? `${parent.name()} ${name}` : name)
    .setOptionValue('plugins', getPlugins(parent));

export type Options = {
  json?: boolean;
  /** The full name, for the audit log. */
  command: string;
  /** The plugins of the program, which read variables of their own. */
  plugins: readonly Plugin[];
};

const getPlugins = (command: Command): unknown =>
  command.parent ? getPlugins(command.parent) : command.getOptionValue('plugins');

export const readEnvironment = ({ plugins }: Pick<Options, 'plugins'>, overrides: NodeJS.ProcessEnv = {}) =>
  readConfig({ ...process.env, ...overrides }, plugins);

/** Runs `work` with a migrated database; starts an embedded one but creates none, on which it would silently run. */
export async function run(
  options: Options,
  work: (context: CommandContext) => Promise<CommandResult>,
  { allowUnmigrated = false, ...storeOptions }: StoreOptions & { allowUnmigrated?: boolean } = {},
) {
  const { json, command: action } = options;
  const config = readEnvironment(options);
  raiseOomScore(config);
  for (const warning of config.warnings) console.error(`warning: ${warning}`);
  const acquireMs = Math.max(10_000, config.acquireMs);
  const store = await openStore(config, () => undefined, { createEmbedded: false, acquireMs, ...storeOptions });
  const interruption: { signal?: string } = {};
  try {
    const database = store.database.withAudit({ actor: 'operator', actorId: null, action });
    await waitForDatabase(database);
    if (storeOptions.poolSize === 1) {
      await assertNoPooler(store);
      await terminateOnSignal(store, interruption);
    }
    await assertReleaseIsSupported(database.pool);
    if (!allowUnmigrated && !(await isMigrated(database.pool))) {
      // Only the embedded database is migrated implicitly.
      if (config.DATABASE_URL !== undefined) {
        const [difference] = await findMigrationDifferences(database.pool);
        throw new Problem('invalid', difference ?? 'The database is not migrated yet: run `migrate`');
      }
      await migrateDatabase(store.connection);
    }
    const getCtx = (providerId: number) => createContext(database, toSettings(config), providerId);
    const result = await work({ config, database, connection: store.connection, getCtx });
    conclude(json, result);
  } catch (error) {
    throw interruption.signal === undefined ? error : new Problem('unavailable', `stopped by ${interruption.signal}`);
  } finally {
    await store.close();
  }
}

/** A transaction pooler would share the session's lock. */
async function assertNoPooler({ connection }: Store) {
  const client = new Client({ ...connection, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    if (await isPooled(client))
      throw new Problem(
        'invalid',
        'This command needs a direct connection: DATABASE_URL must name PostgreSQL, not a pooler',
      );
  } finally {
    await client.end();
  }
}

/** Terminates the backend on a signal: after a mere disconnect its statement would continue and hold its locks. */
async function terminateOnSignal({ connection, database }: Store, interruption: { signal?: string }) {
  const { rows } = await database.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const terminate = async (signal: string) => {
    if (interruption.signal !== undefined) process.exit(1);
    interruption.signal = signal;
    const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('select pg_terminate_backend($1)', [itemAt(rows).pid]);
    await client.end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => void terminate(signal).catch(() => process.exit(1)));
}

export function print(asJson: boolean | undefined, { json, text }: CommandResult) {
  if (asJson) console.log(JSON.stringify(json));
  else if (text !== '') console.log(text);
}

/** Prints the result, and fails the command if it has a failure. */
export function conclude(asJson: boolean | undefined, result: CommandResult) {
  print(asJson, result);
  if (result.failure !== undefined) throw new Problem('invalid', result.failure);
}

/** A text table with a header; `emptyText` without rows. */
export function table(rows: Record<string, string | number | null>[], emptyText: string) {
  if (rows.length === 0) return emptyText;
  const names = Object.keys(itemAt(rows));
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '-')))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => itemAt(line, column).length)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(itemAt(widths, column)))
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
  const value = normalizeTitle(text);
  if (!isTitle(value)) throw new InvalidArgumentError('It must have 1 to 255 characters.');
  return value;
};
export const slug = (text: string) => {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text)) throw new InvalidArgumentError('It must be like-this-1.');
  return text;
};
export const timestamp = (text: string) => {
  const value = parseTimestamp(text);
  if (value === undefined)
    throw new InvalidArgumentError('It must be a date such as 2027-01-31 or 2027-01-31 12:00:00.');
  return value;
};

/** Makes the OOM killer prefer this process to a server, unless it may start the database, which would inherit it. */
export function raiseOomScore({ DATABASE_URL }: Pick<Config, 'DATABASE_URL'>) {
  if (process.platform !== 'linux' || DATABASE_URL === undefined) return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // The file is missing or read-only in some sandboxes.
  }
}
