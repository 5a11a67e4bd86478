import { eq, isNull, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Problem } from '../core/errors.ts';
import type { Ctx, WriteCtx } from '../database/context.ts';
import { storedColumns } from '../database/tables/columns.ts';
import type { bodyWriter } from './body-writer.ts';
import { tenantWhere, type TenantTable } from './tenant-scope.ts';

type Table = TenantTable & { updatedAt: PgColumn; archivedAt?: PgColumn; deletedAt?: PgColumn };
type Writer = Pick<ReturnType<typeof bodyWriter>, 'toColumns' | 'toUpdatedColumns' | 'insert' | 'references'>;
type ToValues = (w: WriteCtx, before: object) => Promise<object>;

type Spec<View, Body, Change> = {
  item: string;
  table: Table;
  areas: Parameters<Ctx['write']>[0];
  writer: Writer;
  find(ctx: Ctx, id: number, query?: object, options?: { isAfterWrite: boolean }): Promise<View | undefined>;
  /** Writes what other tables hold, and returns true if that changed any. */
  writeLinks?(w: WriteCtx, id: number, body: Body | Change): Promise<boolean>;
  /** Checks the body, of an update with the row, and makes the values of further columns. */
  derive?(body: Body | Change, before?: never): object;
  constraints?: Parameters<typeof Problem.mapConstraints>[0];
};

/** The operations of items that are rows with the columns of their bodies; `item` is the name in errors. */
export function itemOperations<View, Body extends object, Change extends object>(spec: Spec<View, Body, Change>) {
  const { item, table, areas, find, writeLinks, derive, constraints = {} } = spec;
  const { toColumns, toUpdatedColumns, insert, references } = spec.writer;
  const { deletedAt } = table;
  const match = (ctx: Ctx, id: number) => tenantWhere(ctx, table, eq(table.id, id), deletedAt && isNull(deletedAt));
  const reload = async (ctx: Ctx, id: number) => (await find(ctx, id, {}, { isAfterWrite: true }))!;

  /** Changes nothing, and leaves no audit entry, if the row has the values already. */
  async function change(ctx: Ctx, id: number, toValues: ToValues): Promise<View> {
    const work = ctx.write(areas, async (w) => {
      const { tx, now } = w;
      const [before] = await tx.select(storedColumns(table)).from(table).where(match(ctx, id));
      const values = await toValues(w, Problem.assertFound(before, item));
      if ((await tx.updateChanged(table, match(ctx, id), values, now)) === 0) tx.rollBack();
    });
    await Problem.mapConstraints(constraints, work);
    return reload(ctx, id);
  }

  return {
    /** Archived ones too. */
    get: async (ctx: Ctx, id: number): Promise<View> => Problem.assertFound(await find(ctx, id), item),
    create: (ctx: Ctx, body: Body): Promise<View> =>
      Problem.mapConstraints(
        constraints,
        ctx.write(areas, async (w) => {
          const { tx, now } = w;
          await references.assertKnown(body, { ctx, reader: tx });
          const own = { providerId: ctx.providerId, createdAt: now, updatedAt: now };
          const values = { ...toColumns(body), ...derive?.(body), ...own };
          const id = tx.auditItem(await insert(tx, values));
          await writeLinks?.(w, id, body);
          return reload({ ...ctx, db: tx }, id);
        }),
      ),
    /** A partial update. */
    update: (ctx: Ctx, id: number, body: Change) =>
      change(ctx, id, async (w, before) => {
        const derived = derive?.(body, before as never);
        await references.assertKnown(body, { ctx, reader: w.tx, params: { id } });
        const updatedAt = (await writeLinks?.(w, id, body)) ? w.now : undefined;
        return { ...toUpdatedColumns(body), ...derived, updatedAt };
      }),
    /** Idempotent. */
    archive: (ctx: Ctx, id: number) =>
      change(ctx, id, async ({ now }) =>
        table.archivedAt ? { archivedAt: sql`coalesce(${table.archivedAt}, ${now})` } : { isArchived: true },
      ),
  };
}
