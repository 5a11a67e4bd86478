import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itemAt, Problem } from '../../core/errors.ts';
import { makeFolder } from '../../core/make-folder.ts';
import type { Database } from '../../database/client.ts';
import type { Log } from '../../core/log.ts';
import { describeError } from '../../database/describe-error.ts';
import { warnOfFailure, type Job } from '../../database/periodic.ts';
import type { ServerContext } from '../../interfaces/plugin/define-plugin.ts';
import { backupSettings } from './settings.ts';
import { getErrorCode } from '../../core/database-errors.ts';

/** File beside the backups with a line of JSON for each erased person or provider. */
export const erasuresName = 'erasures.jsonl';

const Moment = Type.String({ pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/.source });
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
/** The erasure of a person, or of the provider without a `user`; `created_at` is of the erased row. */
const Erasure = Type.Object({
  ...{ provider: Id, user: Type.Optional(Id), created_at: Moment, erased_at: Moment },
  orders_kept: Type.Optional(Type.Literal(true)),
});
export type Erasure = Static<typeof Erasure>;

/** The list of a file; undefined if it does not exist. `warn` reports a cut line without the same erasure after it. */
export async function readErasures(
  file: string,
  warn: (text: string) => void = () => undefined,
): Promise<Erasure[] | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = getErrorCode(error);
    if (code === 'ENOENT') return undefined;
    throw new Problem('invalid', `${file} cannot be read (${code})`, { cause: error });
  });
  const lines = text?.split(/\r?\n/);
  return lines?.flatMap((line, n) => {
    const place = `Line ${n + 1} of ${file}`;
    if (line.endsWith('}')) return [parseLine(line, place)];
    // After a crash the writer appends the same erasure again.
    const isRepeated = lines.some((later, at) => at > n && later.endsWith('}') && later.startsWith(line));
    if (line !== '' && !isRepeated) warn(`${place} is cut short: its erasure is not applied`);
    return [];
  });
}

function parseLine(line: string, place: string): Erasure {
  try {
    const value: unknown = JSON.parse(line);
    if (Value.Check(Erasure, value)) return value;
  } catch {
    // Reported below.
  }
  throw new Problem('invalid', `${place} is no erasure`);
}

/** The persons and providers that a backup of that time has, and that were erased later. */
export function countErasedSince(list: Erasure[], time: string) {
  const found = list.filter(({ created_at, erased_at }) => created_at <= time && erased_at > time);
  return new Set(found.map(({ provider, user, created_at }) => `${provider} ${user} ${created_at}`)).size;
}

const moment = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
/** Selects erasures of the last day too: transactions of several providers end in any order. */
const selectErasures = `select provider_id as provider, user_id as user, ${moment('created_at')} as created_at,
    ${moment('erased_at')} as erased_at, coalesce((to_jsonb(e) ->> 'orders_kept')::boolean, false) as orders_kept
  from erasures e where e.erased_at > $1::timestamptz - interval '1 day' order by e.erased_at, id`;

type Row = Omit<Erasure, 'user' | 'orders_kept'> & { user: number | null; orders_kept: boolean };
const toLine = ({ user, orders_kept, ...row }: Row) =>
  JSON.stringify({ ...row, ...(user !== null && { user }), ...(orders_kept && { orders_kept }) });

/** The lines of the list of a database, of which an older version may have no erasures. */
export const readLines = async ({ pool }: Pick<Database, 'pool'>) =>
  (await readRows(pool, '-infinity').catch(emptyIfNoTable)).map(toLine);

const readRows = async (pool: Database['pool'], since: string) => (await pool.query<Row>(selectErasures, [since])).rows;
function emptyIfNoTable(error: unknown): Row[] {
  if (getErrorCode(error) === '42P01') return [];
  throw error;
}

type JobContext = Pick<ServerContext, 'config' | 'database'> & { log: Pick<Log, 'warn'> };

/** Appends each erasure to the list in the folder of the backups. One that cannot be written is reported once. */
export function erasuresJobs({ config, database, log }: JobContext): Job[] {
  const { nightlyAt, BACKUP_DIR: folder } = config.of(backupSettings);
  const name = 'The list of erasures';
  const write = createErasuresWriter(database, folder, { createsEmpty: nightlyAt !== undefined });
  let lastCause: string | undefined;
  const run = async () => {
    try {
      await write();
      lastCause = undefined;
    } catch (error) {
      const cause = describeError(error);
      if (cause !== lastCause) warnOfFailure(log, name, error);
      lastCause = cause;
    }
  };
  return [{ name, intervalMs: 10_000, run }];
}

/** Appends the erasures that the list of a folder does not have; `createsEmpty` makes an empty one. */
export function createErasuresWriter({ pool }: Pick<Database, 'pool'>, folder: string, { createsEmpty = false } = {}) {
  let since = '-infinity';
  let written: Set<string> | undefined;
  const file = join(folder, erasuresName);
  return async () => {
    if (!existsSync(file)) [since, written] = ['-infinity', undefined];
    const rows = await readRows(pool, since).catch(emptyIfNoTable);
    if (rows.length === 0 && createsEmpty && !existsSync(file)) await append(folder, file, []);
    if (rows.length === 0) return;
    const known = (written ??= new Set(((await readErasures(file)) ?? []).map((one) => JSON.stringify(one))));
    const lines = rows.map(toLine).filter((line) => !known.has(line));
    if (lines.length > 0) await append(folder, file, lines);
    for (const line of lines) known.add(line);
    since = itemAt(rows, rows.length - 1).erased_at;
  };
}

async function append(folder: string, file: string, lines: string[]) {
  makeFolder(folder, 0o700);
  const handle = await open(file, 'a', 0o600);
  try {
    if (lines.length > 0) await handle.write(`\n${lines.join('\n')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
