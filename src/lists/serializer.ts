import { setImmediate } from 'node:timers/promises';
import { Type, type Static, type TObject } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';
import { Nullable } from '../schema/types.ts';
import { keysOf, type Key, type Keys } from './loaders.ts';
import {
  fetchNamed,
  grouped,
  type ForPartners,
  type Include,
  type Includes,
  type Loaded,
  type Loaders,
  type Query,
} from './relations.ts';

/** How rows of a resource become what the world sees, in a list, alone, or embedded in another resource. */
export type Shape<Row, V extends TObject = TObject> = {
  /** The item with all that may be embedded in it. */
  schema: V;
  /** The paths that `include[]` takes. */
  names: string[];
  /** The items of the rows, in their order: one query for each relation, whatever the number of rows. */
  embed(ctx: Ctx, rows: Row[], query: Query, asked: string[]): Promise<Static<V>[]>;
};

/** So many items are made in a few milliseconds; then others have their turn. */
const itemsAtOnce = 2_000;

/** Declares a shape; called as `shapeOf<Row>()({ … })`, so that the row's type is said once and the rest inferred. */
export const shapeOf =
  <Row extends Key>() =>
  <V extends TObject, L extends Loaders<Row>>(spec: {
    view: V;
    /** What every item needs from other tables. */
    parts: L;
    toView(row: Row, parts: Loaded<L>, ctx: Ctx): Static<V>;
    /** What is embedded on request, by name. */
    includes: Includes<Row>;
  }): Shape<Row, V> => {
    const { parts, includes } = spec;
    const schemas = Object.entries(includes).map(([name, { schema }]) => [name, Type.Optional(schema)] as const);
    const names = Object.entries(includes).flatMap(([name, below]) => [
      name,
      ...below.names.map((path) => `${name}.${path}`),
    ]);

    async function embed(ctx: Ctx, rows: Row[], query: Query, asked: string[]) {
      if (rows.length === 0) return [];
      const always = Object.entries(parts).map(async ([name, load]) => [name, await load(ctx, rows, query)] as const);
      const onRequest = [...byTop(asked)].map(
        async ([name, nested]) => [name, await includes[name]!.load(ctx, rows, query, nested)] as const,
      );
      const [loaded, included] = await Promise.all([Promise.all(always), Promise.all(onRequest)]);
      const toItem = (row: Row) => {
        const values: Record<string, unknown> = {};
        for (const [name, of] of loaded) values[name] = of(row);
        const item = spec.toView(row, values as Loaded<L>, ctx) as Record<string, unknown>;
        const isPartners = row.providerId !== ctx.providerId;
        for (const [name, of] of included) {
          item[name] = isPartners && includes[name]!.forPartners === 'unset' ? unsetOf(includes[name]!) : of(row);
        }
        return item;
      };
      const items: Record<string, unknown>[] = [];
      for (let from = 0; from < rows.length; from += itemsAtOnce) {
        if (from > 0) await setImmediate();
        items.push(...rows.slice(from, from + itemsAtOnce).map(toItem));
      }
      return items;
    }

    return {
      schema: Type.Object({ ...spec.view.properties, ...Object.fromEntries(schemas) }) as unknown as V,
      names,
      embed,
    };
  };

const unsetOf = ({ schema }: Include<never>) => (schema['type'] === 'array' ? [] : null);

/** A nested path implies its parents: `course.products` asks for `course` with `products` in it. */
function byTop(asked: string[]) {
  const tops = new Map<string, string[]>();
  for (const path of new Set(asked)) {
    const [top = '', ...rest] = path.split('.');
    const nested = tops.get(top) ?? [];
    if (rest.length > 0) nested.push(rest.join('.'));
    tops.set(top, nested);
  }
  return tops;
}

/** Makes of includes members that are always there, and cannot be asked for by themselves. */
export const alwaysWith = <Row, V extends TObject>(members: string[], shape: Shape<Row, V>): Shape<Row, V> => ({
  schema: { ...shape.schema, required: [...(shape.schema.required ?? []), ...members] },
  names: shape.names.filter((name) => !members.includes(name)),
  embed: (ctx, rows, query, asked) => shape.embed(ctx, rows, query, [...members, ...asked]),
});

type Fetch<Found> = (ctx: Ctx, keys: Keys) => PromiseLike<Found[]>;

/** Embeds the one item of another resource that a row names; null without one. */
export const embedOne = <Row extends Key, Found extends Key>(
  named: (row: Row) => number | null,
  fetch: Fetch<Found>,
  shape: Shape<Found>,
  forPartners: ForPartners,
): Include<Row> => ({
  schema: Nullable(shape.schema),
  forPartners,
  names: shape.names,
  async load(ctx, rows, query, nested) {
    const found = await fetchNamed(ctx, rows, named, fetch);
    const items = await shape.embed(ctx, found, query, nested);
    const byId = new Map(found.map((one, n) => [one.id, items[n]]));
    return (row) => byId.get(named(row) ?? 0) ?? null;
  },
});

/** Embeds the items of another resource that name the row as their owner. */
export const embedMany = <Found extends Key & { ownerId: number }>(
  fetch: Fetch<Found>,
  shape: Shape<Found>,
  forPartners: ForPartners,
): Include<Key> => ({
  forPartners,
  schema: Type.Array(shape.schema),
  names: shape.names,
  async load(ctx, rows, query, nested) {
    const found = await fetch(ctx, keysOf(rows));
    const items = await shape.embed(ctx, found, query, nested);
    const groups = grouped(
      found,
      (one) => one.ownerId,
      (_, n) => items[n],
    );
    return (row) => groups.get(row.id) ?? [];
  },
});
