import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';

/** Names one row among all providers' rows. */
export type Key = { providerId: number; id: number };

/** Fetches what belongs to the items of a whole page with one query, and then tells it for each. */
export type Loader<Row, T> = (ctx: Ctx, rows: Row[], query: Record<string, unknown>) => Promise<(row: Row) => T>;

/** Something a client may ask to have embedded. */
export type Include<Row, S extends TSchema = TSchema> = { schema: S; load: Loader<Row, Static<S>> };

/* eslint-disable @typescript-eslint/no-explicit-any -- tables of loaders and includes over different types */
export type Loaders<Row> = Record<string, Loader<Row, any>>;
export type Includes<Row> = Record<string, Include<Row, any>>;
/* eslint-enable @typescript-eslint/no-explicit-any */

/** What the loaders of a table tell for one item. */
export type Loaded<L> = { [K in keyof L]: L[K] extends Loader<never, infer T> ? T : never };

export const include = <Row, S extends TSchema>(schema: S, load: Loader<Row, Static<S>>): Include<Row, S> => ({
  schema,
  load,
});

/** The providers and the ids of a page's rows: what a loader's one query asks for. */
export type Keys = { providerIds: number[]; ids: number[] };
const keysOf = (rows: Key[]): Keys => ({
  providerIds: [...new Set(rows.map((row) => row.providerId))],
  ids: rows.map((row) => row.id),
});

/** The rows of another table that name this item as their owner, in the order they are fetched. */
export const many =
  <Found extends { ownerId: number }, T>(
    fetch: (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>,
    view: (found: Found) => T,
  ): Loader<Key, T[]> =>
  async (ctx, rows) => {
    const groups = new Map<number, T[]>(rows.map((row) => [row.id, []]));
    for (const found of await fetch(ctx, keysOf(rows))) groups.get(found.ownerId)?.push(view(found));
    return (row) => groups.get(row.id) ?? [];
  };

/** The one row of another table that this item names. */
export const one =
  <Row, Found extends { id: number }, T>(
    named: (row: Row) => number | null,
    fetch: (ctx: Ctx, ids: number[], rows: Row[]) => PromiseLike<Found[]>,
    view: (found: Found, ctx: Ctx) => T,
  ): Loader<Row, T | null> =>
  async (ctx, rows) => {
    const ids = [...new Set(rows.map(named).filter((id) => id !== null))];
    const found = new Map(ids.length === 0 ? [] : (await fetch(ctx, ids, rows)).map((row) => [row.id, view(row, ctx)]));
    return (row) => found.get(named(row) ?? 0) ?? null;
  };

/** For a row that a foreign key guarantees. */
export const always =
  <Row, T>(load: Loader<Row, T | null>): Loader<Row, T> =>
  async (ctx, rows, query) => {
    const of = await load(ctx, rows, query);
    return (row) => of(row)!;
  };

/** Runs the named loaders of a page beside each other. */
export async function loadAll<Row>(
  ctx: Ctx,
  loaders: Iterable<readonly [string, Loader<Row, unknown>]>,
  rows: Row[],
  query: Record<string, unknown>,
) {
  const loaded = await Promise.all(
    [...loaders].map(async ([name, load]) => [name, await load(ctx, rows, query)] as const),
  );
  return (row: Row) => Object.fromEntries(loaded.map(([name, of]) => [name, of(row)]));
}
