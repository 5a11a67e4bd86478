import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import type { Ctx } from '../database/context.ts';
import type { Area } from '../database/areas.ts';
import { Nullable, type Declare } from '../core/schema/types.ts';
import { toKeySet, type Key, type Keys } from './loaders.ts';
import { StaleReference } from './stale-references.ts';

/** Validated parameters of a request. */
export type Query = Record<string, unknown>;

/** Loads a relation of all rows of a page with one query; the result maps a row to its value. */
export type Loader<Row, T> = (ctx: Ctx, rows: Row[], query: Query) => Promise<(row: Row) => T>;

/** Relations that every item has, by name. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of loaders of different types
export type Relations<Row> = Record<string, Loader<Row, any>>;

/** The loaded values of one item. */
export type RelationValues<L> = { [K in keyof L]: L[K] extends Loader<never, infer T> ? T : never };

/** A relation that `include[]` embeds; `nested` are the requested paths below it. */
export type Include<Row, S extends TSchema = TSchema> = {
  /** Declares who sees it. */
  schema: S;
  /** Paths that may be requested below it. */
  names: string[];
  /** Areas it reads beside those of its serializer. */
  readAreas(nested: string[]): readonly Area[];
  load(ctx: Ctx, rows: Row[], query: Query, nested: string[]): Promise<(row: Row) => unknown>;
};
export type Includes<Row> = Record<string, Include<Row>>;

const include = <Row, S extends TSchema>(schema: S, load: Loader<Row, Static<S>>): Include<Row, S> => ({
  ...{ schema, names: [], load },
  readAreas: () => [],
});

/** Turns rows of a resource into response items: in a list, alone, or embedded in another resource. */
export type Serializer<Row, V extends TObject = TObject> = {
  /** The item with every include. */
  schema: V;
  /** Paths that `include[]` accepts. */
  names: string[];
  /** Areas that items with these includes depend on. */
  readAreas(requested: string[]): readonly Area[];
  /** Items of the rows, in their order, with one query for each relation. */
  embed(ctx: Ctx, rows: Row[], query: Query, requested: string[]): Promise<Static<V>[]>;
};

type Fetch<Found> = (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>;

/** Groups values by their owner, in their order. */
export function grouped<Found, Owner = number, T = Found>(
  found: Found[],
  getOwner: (found: Found) => Owner,
  getValue: (found: Found, n: number) => T = (one) => one as never,
) {
  const groups = new Map<Owner, T[]>();
  found.forEach((one, n) => {
    const group = groups.get(getOwner(one));
    if (group) group.push(getValue(one, n));
    else groups.set(getOwner(one), [getValue(one, n)]);
  });
  return groups;
}

const hasMany =
  <Found extends { ownerId: number }, T>(
    fetch: Fetch<Found>,
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

const hasOne =
  <Found extends { ownerId: number }, T, E = never>(
    fetch: Fetch<Found>,
    toResponse: (found: Found, ctx: Ctx) => T,
    empty?: E,
  ): Loader<Key, T | E> =>
  async (...page) => {
    const getFound = await hasMany(fetch, toResponse)(...page);
    return (row) => getFound(row)[0] ?? (empty as E);
  };

const belongsTo =
  <Row extends Key, Found extends { id: number }, T>(
    reference: (row: Row) => number | null,
    fetch: Fetch<Found>,
    toResponse: (found: Found, ctx: Ctx) => T,
  ): Loader<Row, T | null> =>
  async (ctx, rows) => {
    const found = new Map(
      (await fetchReferenced(ctx, rows, reference, fetch)).map((row) => [row.id, toResponse(row, ctx)]),
    );
    return (row) => found.get(reference(row) ?? 0) ?? null;
  };

const required =
  <Row, T>(load: Loader<Row, T | null>): Loader<Row, T> =>
  async (ctx, rows, query) => {
    const getValue = await load(ctx, rows, query);
    return (row) => getValue(row)!;
  };

async function fetchReferenced<Row extends Key, Found>(
  ctx: Ctx,
  rows: Row[],
  reference: (row: Row) => number | null,
  fetch: Fetch<Found>,
): Promise<Found[]> {
  const referencing = rows.filter((row) => reference(row) !== null);
  if (referencing.length === 0) return [];
  const ids = [...new Set(referencing.map((row) => reference(row)!))];
  const found = await fetch(ctx, { providerIds: toKeySet(referencing).providerIds, ids });
  if (found.length < ids.length) throw new StaleReference();
  return found;
}

const includeOne = <Row extends Key, Found extends Key>(
  reference: (row: Row) => number | null,
  fetch: Fetch<Found>,
  serializer: Serializer<Found>,
  declare: Declare,
): Include<Row> => ({
  schema: declare(Nullable(serializer.schema)),
  names: serializer.names,
  readAreas: serializer.readAreas,
  async load(ctx, rows, query, nested) {
    const found = await fetchReferenced(ctx, rows, reference, fetch);
    const items = await serializer.embed(ctx, found, query, nested);
    const byId = new Map(found.map((one, n) => [one.id, items[n]]));
    return (row) => byId.get(reference(row) ?? 0) ?? null;
  },
});

const includer =
  <Found extends Key>(fetch: Fetch<Found>, serializer: Serializer<NoInfer<Found>>, declare: Declare) =>
  <Row extends Key>(reference: (row: Row) => number | null): Include<Row> =>
    includeOne(reference, fetch, serializer, declare);

const requiredIncluder =
  <Found extends Key>(fetch: Fetch<Found>, serializer: Serializer<NoInfer<Found>>, declare: Declare) =>
  <Row extends Key>(reference: (row: Row) => number): Include<Row> => ({
    ...includeOne(reference, fetch, serializer, declare),
    schema: declare(serializer.schema),
  });

const includeMany = <Found extends Key & { ownerId: number }>(
  fetch: Fetch<Found>,
  serializer: Serializer<NoInfer<Found>>,
  declare: Declare,
): Include<Key> => ({
  schema: declare(Type.Array(serializer.schema)),
  names: serializer.names,
  readAreas: serializer.readAreas,
  async load(ctx, rows, query, nested) {
    const found = await fetch(ctx, toKeySet(rows));
    const items = await serializer.embed(ctx, found, query, nested);
    const groups = grouped(
      found,
      (one) => one.ownerId,
      (_, n) => items[n],
    );
    return (row) => groups.get(row.id) ?? [];
  },
});

/** The kinds of relations that a serializer declares: loaders of values, and includes. */
export const relation = {
  /** The rows of another table that have this item as `ownerId`, in their order. */
  hasMany,
  /** The first of these, or the value for none; without one, each item has a row. */
  hasOne,
  /** The row of another table that this item references. */
  belongsTo,
  /** A relation that a foreign key guarantees. */
  required,
  /** Loads each referenced row once, and throws `StaleReference` without one; without references no query is sent. */
  fetchReferenced,
  /** An include without nested paths. */
  include,
  /** Embeds the item of another resource that a row references; null without one. */
  includeOne,
  /** `includeOne` of a resource for any rows that reference it. */
  includer,
  /** `includer` for references that a foreign key guarantees. */
  requiredIncluder,
  /** Embeds the items of another resource that have the row as `ownerId`. */
  includeMany,
};
