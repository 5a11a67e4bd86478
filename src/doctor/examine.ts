import { and, asc, eq, sql, type SQL } from 'drizzle-orm';
import { rollbackNoChange } from '../database/audit-log.ts';
import type { Database, Reader, Tx } from '../database/client.ts';
import { selectPageKeys } from '../lists/paging/range-scan.ts';
import { type Key } from '../lists/loaders.ts';
import { grouped } from '../lists/relations.ts';
import type { Check, Recounted } from './check.ts';
import { seats } from './seats.ts';
import { totals } from './totals.ts';
import { balances } from './vouchers.ts';

/** All that is counted anew, one entry each. */
const checks: Check[] = [seats, totals, balances];

const pageSize = 1_000;

export type Difference = {
  provider_id: number;
  items: string;
  id: number;
  figure: string;
  stored: string;
  counted: string;
};
export type Report = {
  /** How many items were looked at, by what they are called. */
  checked: Record<string, number>;
  differences: Difference[];
  /** Whether what was counted is now stored. */
  fixed: boolean;
};
/** With why some of it could not be stored, the first time that happened. */
export type Examined = Report & { failure?: unknown };

/** Compares stored figures with a recount, of all providers or one; with `fix` what was counted is stored where it differs. */
export async function examine(
  database: Database,
  { providerId, fix = false }: { providerId?: number; fix?: boolean },
): Promise<Examined> {
  const report: Examined = { checked: {}, differences: [], fixed: false };
  for (const check of checks) {
    report.checked[check.items] = 0;
    for await (const items of getPages(database.db, check, providerId)) {
      const wrong = items.filter((item) => getDifferences(check, item).length > 0);
      report.checked[check.items]! += items.length;
      report.differences.push(...wrong.flatMap((item) => getDifferences(check, item)));
      if (!fix) continue;
      // One that cannot be mended hinders neither the others nor the report.
      for (const [provider, ids] of idsByProvider(wrong))
        await repair(database, check, provider, ids).catch((error: unknown) => (report.failure ??= error));
    }
  }
  report.fixed = fix && report.failure === undefined;
  return report;
}

const idsByProvider = (items: Recounted[]) =>
  grouped(
    items,
    ({ providerId }) => providerId,
    ({ id }) => id,
  );

const getDifferences = ({ items }: Check, { providerId, id, stored, counted }: Recounted): Difference[] =>
  Object.keys(counted)
    .filter((figure) => stored[figure] !== counted[figure])
    .map((figure) => ({
      ...{ provider_id: providerId, items, id, figure },
      ...{ stored: stored[figure]!, counted: counted[figure]! },
    }));

async function* getPages(db: Reader, check: Check, providerId: number | undefined) {
  const { table } = check;
  const ofProvider = providerId === undefined ? undefined : eq(table.providerId, providerId);
  for (let last: Key | undefined = { providerId: 0, id: 0 }; last !== undefined;) {
    const after: SQL = sql`(${table.providerId}, ${table.id}) > (${last.providerId}, ${last.id})`;
    const items: Recounted[] = await recount(db, check, and(ofProvider, after)!, pageSize);
    yield items;
    last = items.length === pageSize ? items.at(-1) : undefined;
  }
}

function recount(db: Reader, check: Check, condition: SQL, limit: number) {
  const { providerId, id } = check.table;
  return check.recount(
    db,
    selectPageKeys({ db }, check.table, condition, [asc(providerId), asc(id)], { limit, offset: 0 }).as('page'),
  );
}

/** Counts once more under a provider's lock, since others may have written meanwhile, and stores what it finds. */
const repair = (database: Database, check: Check, providerId: number, ids: number[]) =>
  database.write([providerId], async (tx, at) => {
    const { table } = check;
    const named = and(eq(table.providerId, providerId), sql`${table.id} = any(${sql.param(ids)}::bigint[])`)!;
    const found = await recount(tx, check, named, ids.length);
    const different = found.filter((item) => getDifferences(check, item).length > 0);
    if (different.length > 0) await store(tx, at, check, different);
    else rollbackNoChange(tx);
  });

/** Readers see the figures change, so `updated_at` moves with them. */
function store(tx: Tx, at: string, { table }: Check, items: Recounted[]) {
  const rows = items.map(({ providerId, id, counted }) => ({ provider_id: providerId, id, ...counted }));
  const figures = Object.keys(items[0]!.counted).map(
    (name) => sql`${sql.identifier(name)} = counted.${sql.identifier(name)}`,
  );
  return tx.execute(sql`
    update ${table} stored set ${sql.join(figures, sql`, `)}, updated_at = ${at}::timestamptz
    from jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::jsonb) counted
    where stored.provider_id = counted.provider_id and stored.id = counted.id`);
}
