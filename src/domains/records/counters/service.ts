import { hasAnyId } from '../../../database/tables/columns.ts';
import { and, sql, type SQL } from 'drizzle-orm';
import { allAreas } from '../../../database/areas.ts';
import type { Database, Reader, Write } from '../../../database/client.ts';
import type { Key } from '../../../lists/loaders.ts';
import { grouped } from '../../../lists/relations.ts';
import { allOf, tenantWhere } from '../../../lists/tenant-scope.ts';
import {
  selectPage,
  type Check,
  type CountedItem,
  balanceCheck,
  orderCheck,
  seatCheck,
  usesCheck,
  creditCheck,
  shareCheck,
} from './checks-service.ts';

/** Limits a check to some of its figures. */
const limitFigures = (check: Check, isIncluded: (figure: string) => boolean): Check => ({
  ...check,
  recount: async (db, page) =>
    (await check.recount(db, page)).map((item) => {
      const counted = Object.entries(item.counted).filter(([figure]) => isIncluded(figure));
      return { ...item, counted: Object.fromEntries(counted) };
    }),
});
const totalsCheck = limitFigures(orderCheck, (figure) => figure !== 'is_paid');
const paidCheck = { ...limitFigures(orderCheck, (figure) => figure === 'is_paid'), isPartial: true };

/** Checks in order of dependence: applied amounts of credits depend on totals, and `is_paid` depends on both. */
const checks: Check[] = [seatCheck, totalsCheck, creditCheck, shareCheck, paidCheck, usesCheck, balanceCheck];

const pageSize = 1_000;

type Difference = {
  provider_id: number;
  items: string;
  id: number;
  figure: string;
  stored: string;
  counted: string;
};
export type Report = {
  /** Number of checked items by name. */
  checked: Record<string, number>;
  differences: Difference[];
  /** True if all recounted values are now stored. */
  fixed: boolean;
};
/** `failure` is the first error while storing. */
type CheckResult = Report & { failure?: unknown };

/** Compares stored counters with a recount, for one provider or all; `fix` stores the recounted values. */
export async function checkCounters(
  database: Database,
  { providerId, fix = false }: { providerId?: number; fix?: boolean },
): Promise<CheckResult> {
  const report: CheckResult = { checked: {}, differences: [], fixed: false };
  for (const check of checks) {
    const isCounted = !check.isPartial && check.only === undefined;
    if (isCounted) report.checked[check.items] = 0;
    for await (const items of readPages(database.db, check, providerId)) {
      const wrong = items.filter((item) => toDifferences(check, item).length > 0);
      if (isCounted) report.checked[check.items]! += items.length;
      report.differences.push(...wrong.flatMap((item) => toDifferences(check, item)));
      if (!fix) continue;
      // Continue after an error, with the first one in the report.
      for (const [provider, ids] of idsByProvider(wrong))
        await repair(database, check, provider, ids).catch((error: unknown) => (report.failure ??= error));
    }
  }
  report.fixed = fix && report.failure === undefined;
  return report;
}

const idsByProvider = (items: CountedItem[]) =>
  grouped(
    items,
    ({ providerId }) => providerId,
    ({ id }) => id,
  );

const toDifferences = ({ items }: Check, { providerId, id, stored, counted }: CountedItem): Difference[] =>
  Object.keys(counted)
    .filter((figure) => stored[figure] !== counted[figure])
    .map((figure) => ({
      ...{ provider_id: providerId, items, id, figure },
      ...{ stored: stored[figure]!, counted: counted[figure]! },
    }));

async function* readPages(db: Reader, check: Check, providerId: number | undefined) {
  const { table } = check;
  const ofProvider = providerId === undefined ? undefined : tenantWhere({ providerId }, table);
  for (let last: Key | undefined = { providerId: 0, id: 0 }; last !== undefined;) {
    const after: SQL = sql`(${table.providerId}, ${table.id}) > (${last.providerId}, ${last.id})`;
    const items: CountedItem[] = await recount(db, check, and(ofProvider, after)!, pageSize);
    yield items;
    last = items.length === pageSize ? items.at(-1) : undefined;
  }
}

const recount = (db: Reader, check: Check, condition: SQL, limit: number) =>
  check.recount(db, selectPage(db, check.table, allOf(condition, check.only), limit));

/** Recounts under the provider's lock, since counters may have changed, and stores differences. */
const repair = (database: Database, check: Check, providerId: number, ids: number[]) =>
  database.write([providerId], allAreas, async (w) => {
    const { table } = check;
    const condition = tenantWhere({ providerId }, table, hasAnyId(table.id, ids));
    const recounted = await recount(w.tx, check, condition, ids.length);
    const different = recounted.filter((item) => toDifferences(check, item).length > 0);
    if (different.length > 0 && check.isReportOnly) throw new Error('shares of credits are reported, not repaired');
    if (different.length === 0) w.tx.rollBack();
    else await storeCounts(w, check, different);
  });

/** Also sets `updated_at`, since clients see the counters. */
function storeCounts({ tx, now }: Write, { table }: Check, items: CountedItem[]) {
  const rows = items.map(({ providerId, id, counted }) => ({ provider_id: providerId, id, ...counted }));
  const assignments = Object.keys(items[0]!.counted).map(
    (name) => sql`${sql.identifier(name)} = counted.${sql.identifier(name)}`,
  );
  return tx.execute(sql`
    update ${table} stored set ${sql.join(assignments, sql`, `)}, updated_at = ${now}::timestamptz
    from jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::jsonb) counted
    where stored.provider_id = counted.provider_id and stored.id = counted.id`);
}
