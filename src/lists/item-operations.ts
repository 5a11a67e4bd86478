import { eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Problem } from '../core/errors.ts';
import type { Ctx, WriteCtx } from '../database/context.ts';
import type { bodyWriter } from './body-writer.ts';
import { tenantWhere, type TenantTable } from './tenant-scope.ts';

type Table = TenantTable & { updatedAt: PgColumn; archivedAt?: PgColumn };
type Writer = Pick<ReturnType<typeof bodyWriter>, 'toColumns' | 'toUpdatedColumns' | 'insert' | 'references'>;

/** The operations of items that are rows with the columns of their bodies; `item` is the name in errors. */
export function itemOperations<View, Body extends object, Change extends object>(spec: {
  item: string;
  table: Table;
  areas: Parameters<Ctx['write']>[0];
  writer: Writer;
  find(ctx: Ctx, id: number, query?: object, options?: { isAfterWrite: boolean }): Promise<View | undefined>;
  /** Writes what other tables hold, and returns true if that changed any. */
  writeLinks?(w: WriteCtx, id: number, body: Body | Change): Promise<boolean>;
  constraints?: Parameters<typeof Problem.mapConstraints>[0];
}) {
  const { item, table, areas, find, writeLinks, constraints = {} } = spec;
  const { toColumns, toUpdatedColumns, insert, references } = spec.writer;
  const match = (ctx: Ctx, id: number) => tenantWhere(ctx, table, eq(table.id, id));
  const reload = async (ctx: Ctx, id: number) => (await find(ctx, id, {}, { isAfterWrite: true }))!;

  /** Changes nothing, and leaves no audit entry, if the row has the values already. */
  async function change(ctx: Ctx, id: number, toValues: (w: WriteCtx) => Promise<object>): Promise<View> {
    const work = ctx.write(areas, async (w) => {
      const { tx, now } = w;
      if ((await tx.$count(table, match(ctx, id))) === 0) throw Problem.notFound(item);
      const values = await toValues(w);
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
          const id = tx.auditItem(await insert(tx, { ...toColumns(body), ...own }));
          await writeLinks?.(w, id, body);
          return reload({ ...ctx, db: tx }, id);
        }),
      ),
    /** A partial update. */
    update: (ctx: Ctx, id: number, body: Change) =>
      change(ctx, id, async (w) => {
        await references.assertKnown(body, { ctx, reader: w.tx, params: { id } });
        const updatedAt = (await writeLinks?.(w, id, body)) ? w.now : undefined;
        return { ...toUpdatedColumns(body), updatedAt };
      }),
    /** Idempotent. */
    archive: (ctx: Ctx, id: number) =>
      change(ctx, id, async ({ now }) =>
        table.archivedAt ? { archivedAt: sql`coalesce(${table.archivedAt}, ${now})` } : { isArchived: true },
      ),
  };
}
