import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';
import { toKeySet, type Key, type Keys } from './loaders.ts';

/** Validated parameters of a request. */
export type Query = Record<string, unknown>;

/** Loads a relation of all rows of a page with one query; the result maps a row to its value. */
export type Loader<Row, T> = (ctx: Ctx, rows: Row[], query: Query) => Promise<(row: Row) => T>;

/** Relations that every item has, by name. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of loaders of different types
export type Relations<Row> = Record<string, Loader<Row, any>>;

/** The loaded values of one item. */
export type Loaded<L> = { [K in keyof L]: L[K] extends Loader<never, infer T> ? T : never };

/** A relation that `include[]` embeds; `nested` are the requested paths below it. */
export type Include<Row, S extends TSchema = TSchema> = {
  schema: S;
  /** Paths that may be requested below it. */
  names: string[];
  /** If a partner's item shows it. Required, so that nothing of a partner's shows by omission. */
  forPartners: ForPartners;
  load(ctx: Ctx, rows: Row[], query: Query, nested: string[]): Promise<(row: Row) => unknown>;
};
export type ForPartners = 'shown' | 'unset';
export type Includes<Row> = Record<string, Include<Row>>;

/** An include without nested paths. */
export const include = <Row, S extends TSchema>(
  schema: S,
  forPartners: ForPartners,
  load: Loader<Row, Static<S>>,
): Include<Row, S> => ({ schema, names: [], forPartners, load });

/** Groups values by their owner, in their order. */
export function grouped<Found, T>(
  found: Found[],
  getOwner: (found: Found) => number,
  getValue: (found: Found, n: number) => T,
) {
  const groups = new Map<number, T[]>();
  found.forEach((one, n) => {
    const group = groups.get(getOwner(one));
    if (group) group.push(getValue(one, n));
    else groups.set(getOwner(one), [getValue(one, n)]);
  });
  return groups;
}

/** The rows of another table that have this item as `ownerId`, in their order. */
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

/** The row of another table that this item references. */
export const belongsTo =
  <Row extends Key, Found extends { id: number }, T>(
    reference: (row: Row) => number | null,
    fetch: (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>,
    toResponse: (found: Found, ctx: Ctx) => T,
  ): Loader<Row, T | null> =>
  async (ctx, rows) => {
    const found = new Map((await fetchNamed(ctx, rows, reference, fetch)).map((row) => [row.id, toResponse(row, ctx)]));
    return (row) => found.get(reference(row) ?? 0) ?? null;
  };

/** A relation that a foreign key guarantees. */
export const required =
  <Row, T>(load: Loader<Row, T | null>): Loader<Row, T> =>
  async (ctx, rows, query) => {
    const of = await load(ctx, rows, query);
    return (row) => of(row)!;
  };

/** Loads each referenced row once; without references no query is sent. */
export async function fetchNamed<Row extends Key, Found>(
  ctx: Ctx,
  rows: Row[],
  reference: (row: Row) => number | null,
  fetch: (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>,
): Promise<Found[]> {
  const referencing = rows.filter((row) => reference(row) !== null);
  if (referencing.length === 0) return [];
  const ids = [...new Set(referencing.map((row) => reference(row)!))];
  return fetch(ctx, { providerIds: toKeySet(referencing).providerIds, ids });
}
