import type { Ctx, Settings } from '../core/context.ts';
import { Problem } from '../core/errors.ts';
import type { Database } from '../database/client.ts';
import { getFailure } from '../database/errors.ts';
import { createContext } from '../resources/schools/provider-service.ts';
import { getTables, writeLines, writeSingle } from './apply.ts';
import { isBulk, type BulkRecordType } from './record-type.ts';
import { kinds } from './record-types/index.ts';
import { lineReader } from './line-reader.ts';
import type { Line } from './lines.ts';
import {
  badLines,
  closeStaging,
  deleteKnown,
  indexStaging,
  openStaging,
  getRanges,
  stage,
  type BadLine,
} from './staging.ts';

export type Allowed = 'partners' | 'categories';
export type ImportOptions = {
  /** Checks everything and writes nothing. */
  dryRun?: boolean;
  /** Changes beyond the provider's own data that lines may make; all unless given. */
  allow?: Allowed[];
  /** Called with each bad line as soon as it is known. */
  onBadLine?: (bad: BadLine) => void;
  /** Called now and then with how far the work is. */
  onProgress?: (summary: ImportSummary) => void;
};
/** In lines. `known` were written by an earlier run; `bad` were refused. */
export type ImportSummary = { read: number; known: number; written: number; bad: number };

/** How many lines are handed to the database at once, and how many are written under one lock. */
const atOnce = 1_000;

/**
 * Reads lines into a provider. All are read and checked first, without the provider's lock; when one is bad nothing is
 * written. Then the lines are written kind by kind, a thousand at a time under the lock, and their refs are kept: a
 * line whose ref is known is passed over, so that a second run continues where the first broke off. `database` must
 * hold one connection only and keep it (`poolSize: 1, idleMs: 0`), since the lines wait in a table of its session.
 */
export async function importLines(
  database: Database,
  settings: Settings,
  providerId: number,
  lines: AsyncIterable<Line> | Iterable<Line>,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const ctx = await createContext(database, settings, providerId);
  return withImportLock(database, providerId, async () => {
    const { dryRun = false, allow, onBadLine = () => undefined, onProgress = () => undefined } = options;
    const summary: ImportSummary = { read: 0, known: 0, written: 0, bad: 0 };
    const work: Work = {
      database,
      ctx,
      summary,
      onProgress: () => onProgress(summary),
      tell: (bad) => {
        summary.bad += 1;
        onBadLine(bad);
      },
    };
    await openStaging(database);
    try {
      await check(work, allow ? permitted(lines, allow) : lines);
      if (summary.bad === 0 && !dryRun) await write(work);
      return summary;
    } finally {
      // A connection that broke took its table with it.
      await closeStaging(database).catch(() => undefined);
    }
  });
}

type Work = {
  database: Database;
  ctx: Ctx;
  summary: ImportSummary;
  tell: (bad: BadLine) => void;
  onProgress: () => void;
};

async function check({ database, ctx, summary, tell, onProgress }: Work, lines: AsyncIterable<Line> | Iterable<Line>) {
  const read = await lineReader(database, ctx.settings);
  for await (const batch of batches(lines)) {
    const readings = await Promise.all(batch.map(read));
    for (const { bad } of readings) if (bad) tell(bad);
    await stage(
      database,
      readings.flatMap(({ staged }) => staged ?? []),
    );
    summary.read += batch.length;
    onProgress();
  }
  await indexStaging(database);
  summary.known = await deleteKnown(database, ctx.providerId);
  for (const bad of await badLines(database, ctx.providerId, kinds)) tell(bad);
}

/** Kinds in an order in which each refers to earlier ones alone. Nothing is written after a line that was refused: others may refer to it. */
async function write({ database, ctx, summary, tell, onProgress }: Work) {
  for (const kind of kinds) {
    let [batches, analyzedAt] = [0, 1];
    for (const { first, last } of await getRanges(database, kind.kind, isBulk(kind) ? atOnce : 1)) {
      const { lines, refused } = isBulk(kind)
        ? await writeOrName(ctx, kind, first, last)
        : await writeSingle(database, ctx, kind, first);
      summary.written += lines;
      if (refused) tell(refused);
      onProgress();
      if (summary.bad > 0) return;
      if (!isBulk(kind)) continue;
      batches += 1;
      if (batches < analyzedAt) continue;
      await analyze(database, kind);
      analyzedAt *= 4;
    }
    if (isBulk(kind) && batches > 1) await analyze(database, kind);
  }
}

/** Statistics from before the import know no row of the provider: plans made with them read all its rows for each row. */
const analyze = ({ pool }: Database, kind: BulkRecordType) =>
  pool.query(`analyze ${getTables(kind).join(', ')}, import_refs`);

/**
 * What the database refuses in spite of all checks is looked for by halves, so that its line can be named. Nothing is
 * written after it: a later line may belong to it.
 */
async function writeOrName(ctx: Ctx, kind: BulkRecordType, first: number, last: number): Promise<Written> {
  try {
    return { lines: await writeLines(ctx, kind, first, last) };
  } catch (error) {
    const failure = getFailure(error);
    if (failure?.kind !== 'rule' && failure?.kind !== 'input') throw error;
    if (first === last) {
      const reason = failure.kind === 'rule' ? `Refused by the rule ${failure.constraint}` : 'A value is out of range';
      return { lines: 0, refused: { line: first, reason } };
    }
    const middle = Math.floor((first + last) / 2);
    const left = await writeOrName(ctx, kind, first, middle);
    if (left.refused) return left;
    const right = await writeOrName(ctx, kind, middle + 1, last);
    return { ...right, lines: left.lines + right.lines };
  }
}
type Written = { lines: number; refused?: BadLine };

/** Two imports of one provider would write each other's lines twice. */
async function withImportLock<T>({ pool }: Database, providerId: number, work: () => Promise<T>): Promise<T> {
  const key = `hashtextextended('import', ${providerId})`;
  const { rows } = await pool.query<{ free: boolean }>(`select pg_try_advisory_lock(${key}) as free`);
  if (!rows[0]!.free) throw new Problem('unavailable', `Another import of provider ${providerId} is running`);
  try {
    return await work();
  } finally {
    await pool.query(`select pg_advisory_unlock(${key})`).catch(() => undefined);
  }
}

/** Lines with a problem in place of what `--allow` does not name. */
async function* permitted(lines: AsyncIterable<Line> | Iterable<Line>, allow: Allowed[]): AsyncGenerator<Line> {
  for await (const line of lines) {
    const fields = 'fields' in line ? line.fields : {};
    const needed =
      fields['kind'] === 'partner' && fields['status'] === 'approved'
        ? 'partners'
        : fields['kind'] === 'category'
          ? 'categories'
          : undefined;
    yield needed === undefined || allow.includes(needed)
      ? line
      : {
          number: line.number,
          problem: `Not allowed: it changes ${needed} outside the provider; use --allow ${needed}`,
        };
  }
}

async function* batches(lines: AsyncIterable<Line> | Iterable<Line>) {
  let batch: Line[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === atOnce) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
