import type { Ctx } from '../../database/context.ts';
import type { Settings } from '../../core/settings.ts';
import { itemAt, Problem } from '../../core/errors.ts';
import type { Database } from '../../database/client.ts';
import { importLockSql } from '../../database/tables/imports.ts';
import { createContext } from '../../domains/school/schools/service.ts';
import { describeRefusal, tableNames, writeLines, writeSingleLine, type Range } from './apply.ts';
import { isBulk, type BulkRecordType } from './record-type.ts';
import { recordTypes } from './record-types/index.ts';
import { createLineReader } from './line-reader.ts';
import type { Line } from './lines.ts';
import { assignUsernames } from './usernames.ts';
import * as staging from './staging.ts';

export type AllowedScope = 'partners' | 'categories';
export type ImportOptions = {
  /** Checks all lines but writes nothing. */
  dryRun?: boolean;
  /** Shared data that lines may change. Default: all. */
  allow?: AllowedScope[];
  /** Skips lines whose refs were imported with other values, instead of refusing them. */
  skipChanged?: boolean;
  onBadLine?: (bad: staging.BadLine) => void;
  onProgress?: (summary: ImportSummary) => void;
};
/** Numbers of lines: `known` were imported by an earlier run, `bad` are invalid. */
export type ImportSummary = { read: number; known: number; written: number; bad: number };

/** Lines per staging insert, and per lock. */
const batchSize = 1_000;

/**
 * Imports lines into a provider. All are checked and staged first, without the provider's lock; if any is bad, nothing is
 * written. Then they are written by record type, at most a thousand per lock. Refs are stored, so a later run skips
 * imported lines. `database` needs a single permanent connection (`poolSize: 1, idleMs: 0`), which has the lock of the
 * import.
 */
export async function importLines(
  database: Database,
  settings: Settings,
  providerId: number,
  lines: AsyncIterable<Line> | Iterable<Line>,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const ctx = await createContext(database, settings, providerId);
  return withImportLock(database, providerId, async (assertLocked) => {
    const summary: ImportSummary = { read: 0, known: 0, written: 0, bad: 0 };
    const { dryRun, allow, skipChanged } = options;
    const run: ImportRun = {
      ...{ database, ctx, assertLocked, summary, skipChanged, kinds: new Set<string>() },
      onProgress: () => options.onProgress?.(summary),
      reportBadLine: (bad) => {
        summary.bad += 1;
        options.onBadLine?.(bad);
      },
    };
    await staging.clearStaging(database, providerId);
    try {
      await checkLines(run, allow ? withAllowedOnly(lines, allow) : lines);
      if (summary.bad === 0 && !dryRun) await writeAll(run);
      return summary;
    } finally {
      // After a lost connection another import may be running; the next one clears the lines.
      await assertLocked()
        .then(() => staging.clearStaging(database, providerId))
        .catch(() => undefined);
    }
  });
}

type ImportRun = {
  database: Database;
  ctx: Ctx;
  /** Slow input leaves the connection idle, which may then be lost. */
  assertLocked: () => Promise<void>;
  summary: ImportSummary;
  /** Those of the lines, imported before or not. */
  kinds: Set<string>;
  skipChanged: boolean | undefined;
  reportBadLine: (bad: staging.BadLine) => void;
  onProgress: () => void;
};

async function checkLines(
  { database, ctx, assertLocked, summary, kinds, skipChanged, reportBadLine, onProgress }: ImportRun,
  lines: AsyncIterable<Line> | Iterable<Line>,
) {
  const readLine = await createLineReader(database, ctx);
  for await (const batch of toBatches(lines)) {
    const checked = await Promise.all(batch.map(readLine));
    for (const { bad } of checked) if (bad) reportBadLine(bad);
    await assertLocked();
    const staged = checked.flatMap(({ staged }) => staged ?? []);
    for (const { kind } of staged) kinds.add(kind);
    await staging.stageLines(database, ctx.providerId, staged);
    summary.read += batch.length;
    onProgress();
  }
  await assertLocked();
  await staging.analyzeStaging(database);
  await staging.recognizeErased(database, ctx.providerId);
  const changed = skipChanged ? [] : await staging.findChangedLines(database, ctx.providerId);
  summary.known = await staging.deleteImported(database, ctx.providerId);
  const persons = await assignUsernames(database, ctx.providerId);
  const bad = [...changed, ...persons, ...(await staging.findBadLines(database, ctx.providerId, recordTypes))];
  for (const one of bad.sort((a, b) => a.line - b.line)) reportBadLine(one);
  await assertLocked();
}

/** Stops at the first refused line, since later ones may refer to it. */
async function writeAll({ database, ctx, assertLocked, summary, kinds, reportBadLine, onProgress }: ImportRun) {
  for (const kind of recordTypes) {
    let [batchCount, nextAnalyze] = [0, 1];
    const ranges = await staging.loadRanges(database, ctx.providerId, kind.kind, isBulk(kind) ? batchSize : 1);
    for (const { first, last } of ranges) {
      const { lines, refused } = isBulk(kind)
        ? await writeOrBisect(ctx, kind, { first, last, asResync: ranges.length > 1 })
        : await writeSingleLine(database, ctx, kind, first);
      // On another connection another import may run, and a crash of the database empties the staged lines.
      await assertLocked();
      summary.written += lines;
      if (refused) reportBadLine(refused);
      onProgress();
      if (summary.bad > 0) return;
      if (!isBulk(kind)) continue;
      batchCount += 1;
      if (batchCount < nextAnalyze) continue;
      await analyze(database, kind);
      nextAnalyze *= 4;
    }
    if (!isBulk(kind)) continue;
    if (batchCount > 1) await analyze(database, kind);
    // An import that is run again after an interruption has known lines alone.
    if (kinds.has(kind.kind)) await kind.afterAll?.(database, ctx);
  }
}

/** Updates the statistics: with those from before the import, the planner would scan all rows for each row. */
const analyze = ({ pool }: Database, kind: BulkRecordType) =>
  pool.query(`analyze ${tableNames(kind).join(', ')}, import_refs`);

/** Bisects lines that the database rejects in spite of all checks, to report the first one. Writes the lines before it. */
async function writeOrBisect(ctx: Ctx, kind: BulkRecordType, range: Range): Promise<WriteResult> {
  const { first, last } = range;
  try {
    return { lines: await writeLines(ctx, kind, range) };
  } catch (error) {
    const reason = describeRefusal(error);
    if (reason === undefined) throw error;
    if (first === last) return { lines: 0, refused: { line: first, reason } };
    const middle = Math.floor((first + last) / 2);
    const left = await writeOrBisect(ctx, kind, { ...range, last: middle });
    if (left.refused) return left;
    const right = await writeOrBisect(ctx, kind, { ...range, first: middle + 1 });
    return { ...right, lines: left.lines + right.lines };
  }
}
type WriteResult = { lines: number; refused?: staging.BadLine };

const session = 'pg_backend_pid() as pid';
type Session = { pid: number };

/** Concurrent imports of one provider could write the same lines twice. */
async function withImportLock<T>(
  { pool }: Database,
  providerId: number,
  work: (assertLocked: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const key = importLockSql(providerId);
  const lock = await pool.query<Session & { free: boolean }>(`select pg_try_advisory_lock(${key}) as free, ${session}`);
  const { free, pid } = itemAt(lock.rows);
  if (!free) throw new Problem('unavailable', `Another import of provider ${providerId} is running`);
  try {
    return await work(async () => {
      const { rows } = await pool.query<Session>(`select ${session}`);
      if (itemAt(rows).pid !== pid) throw new Error('the connection was lost, and with it the lock of the import');
    });
  } finally {
    await pool.query(`select pg_advisory_unlock(${key})`).catch(() => undefined);
  }
}

/** Replaces lines that change shared data without permission by a problem. */
async function* withAllowedOnly(
  lines: AsyncIterable<Line> | Iterable<Line>,
  allow: AllowedScope[],
): AsyncGenerator<Line> {
  for await (const line of lines) {
    const { kind, status } = 'fields' in line ? line.fields : {};
    const isShared = kind === 'category' || (kind === 'partner' && status === 'approved');
    const scope = kind === 'category' ? 'categories' : 'partners';
    if (!isShared || allow.includes(scope)) yield line;
    else {
      const problem = `Not allowed: it changes ${scope} outside the provider; use --allow ${scope}`;
      yield { number: line.number, problem };
    }
  }
}

async function* toBatches(lines: AsyncIterable<Line> | Iterable<Line>) {
  let batch: Line[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === batchSize) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
