import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';
import { toKeySet, type Key, type Keys } from './loaders.ts';

/** What a client asked for, read and validated. */
export type Query = Record<string, unknown>;

/** Fetches what belongs to the items of a whole page with one query, and then tells it for each. */
export type Loader<Row, T> = (ctx: Ctx, rows: Row[], query: Query) => Promise<(row: Row) => T>;

/** What an item needs from other tables, by name. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of loaders of different types
export type Relations<Row> = Record<string, Loader<Row, any>>;

/** What the loaders of a table tell for one item. */
export type Loaded<L> = { [K in keyof L]: L[K] extends Loader<never, infer T> ? T : never };

/** Something a client may ask to have embedded; `nested` are the paths asked for below it. */
export type Include<Row, S extends TSchema = TSchema> = {
  schema: S;
  /** The paths that may be asked for below it. */
  names: string[];
  /** Whether an item of a partner shows it; said for each, so that nothing of a partner's shows by omission. */
  forPartners: ForPartners;
  load(ctx: Ctx, rows: Row[], query: Query, nested: string[]): Promise<(row: Row) => unknown>;
};
export type ForPartners = 'shown' | 'unset';
export type Includes<Row> = Record<string, Include<Row>>;

/** An include that has nothing below it. */
export const include = <Row, S extends TSchema>(
  schema: S,
  forPartners: ForPartners,
  load: Loader<Row, Static<S>>,
): Include<Row, S> => ({ schema, names: [], forPartners, load });

/** The values of `found` by the row that each belongs to, in their order. */
export function grouped<Found, T>(
  found: Found[],
  getOwner: (found: Found) => number,
  getValue: (found: Found, n: number) => T,
) {
  const groups = new Map<number, T[]>();
  found.forEach((belongsTo, n) => {
    const group = groups.get(getOwner(belongsTo));
    if (group) group.push(getValue(belongsTo, n));
    else groups.set(getOwner(belongsTo), [getValue(belongsTo, n)]);
  });
  return groups;
}

/** The rows of another table that name this item as their owner, in the order they are fetched. */
export const hasMany =
  <Found extends { ownerId: number }, T>(
    fetch: (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>,
    toResponse: (found: Found, ctx: Ctx) => T,
  ): Loader<Key, T[]> =>
  async (ctx, rows) => {
    const groups = grouped(
      await fetch(ctx, toKeySet(rows)),
      (found) => found.ownerId,
      (found) => toResponse(found, ctx),
    );
    return (row) => groups.get(row.id) ?? [];
  };

/** The one row of another table that this item names. */
export const belongsTo =
  <Row extends Key, Found extends { id: number }, T>(
    named: (row: Row) => number | null,
    fetch: (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>,
    toResponse: (found: Found, ctx: Ctx) => T,
  ): Loader<Row, T | null> =>
  async (ctx, rows) => {
    const found = new Map((await fetchNamed(ctx, rows, named, fetch)).map((row) => [row.id, toResponse(row, ctx)]));
    return (row) => found.get(named(row) ?? 0) ?? null;
  };

/** For a row that a foreign key guarantees. */
export const required =
  <Row, T>(load: Loader<Row, T | null>): Loader<Row, T> =>
  async (ctx, rows, query) => {
    const of = await load(ctx, rows, query);
    return (row) => of(row)!;
  };

/** Fetches each row that the page names once, and asks nothing when it names none. */
export async function fetchNamed<Row extends Key, Found>(
  ctx: Ctx,
  rows: Row[],
  named: (row: Row) => number | null,
  fetch: (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>,
): Promise<Found[]> {
  const naming = rows.filter((row) => named(row) !== null);
  if (naming.length === 0) return [];
  const ids = [...new Set(naming.map((row) => named(row)!))];
  return fetch(ctx, { providerIds: toKeySet(naming).providerIds, ids });
}
