import { setImmediate } from 'node:timers/promises';
import { Type, type Static, type TObject } from '@sinclair/typebox';
import type { Ctx } from '../database/context.ts';
import type { Area } from '../database/areas.ts';
import { copyName } from '../core/schema/types.ts';
import { toEmptyValue, hideClosedMembers, isOpen } from './closed-members.ts';
import type { Key } from './loaders.ts';
import type { Includes, RelationValues, Query, Relations, Serializer } from './relations.ts';

/** The serializer builds this number of items in a few milliseconds, then frees the event loop. */
const itemsAtOnce = 2_000;

/** Called as `defineSerializer<Row>()({ … })`: the row's type is given, the others are inferred. */
export const defineSerializer =
  <Row extends Key>() =>
  <V extends TObject, L extends Relations<Row>>(spec: {
    responseSchema: V;
    /** Areas of the rows, the relations and the includes without a serializer. */
    reads: readonly Area[];
    relations?: L;
    toResponse(row: Row, relations: RelationValues<L>, ctx: Ctx): Static<V>;
    includes?: Includes<Row>;
    /** Includes that every item has, and that `include[]` does not accept. */
    requiredIncludes?: string[];
  }): Serializer<Row, V> => {
    const { relations = {} as L, includes = {}, requiredIncludes = [] } = spec;
    const hideClosed = hideClosedMembers(spec.responseSchema);
    const schemas = Object.entries(includes).map(([name, { schema }]) => [name, Type.Optional(schema)] as const);
    const names = Object.entries(includes).flatMap(([name, below]) => [
      name,
      ...below.names.map((path) => `${name}.${path}`),
    ]);

    async function embed(ctx: Ctx, rows: Row[], query: Query, requested: string[]) {
      if (rows.length === 0) return [];
      const loadingRelations = Object.entries(relations).map(
        async ([name, load]) => [name, await load(ctx, rows, query)] as const,
      );
      const loadingIncludes = [...groupByFirst(requested)].map(
        async ([name, nested]) => [name, await includes[name]!.load(ctx, rows, query, nested)] as const,
      );
      const [loaded, included] = await Promise.all([Promise.all(loadingRelations), Promise.all(loadingIncludes)]);
      const toItem = (row: Row) => {
        const values: Record<string, unknown> = {};
        for (const [name, getValue] of loaded) values[name] = getValue(row);
        const item = spec.toResponse(row, values as RelationValues<L>, ctx) as Record<string, unknown>;
        const isOwn = row.providerId === ctx.providerId;
        for (const [name, getValue] of included) {
          const { schema } = includes[name]!;
          item[name] = isOwn || isOpen(schema, ctx) ? getValue(row) : toEmptyValue(schema);
        }
        return hideClosed(item, row, ctx);
      };
      const items: Record<string, unknown>[] = [];
      for (let from = 0; from < rows.length; from += itemsAtOnce) {
        if (from > 0) await setImmediate();
        items.push(...rows.slice(from, from + itemsAtOnce).map(toItem));
      }
      return items;
    }

    const schema = copyName(
      spec.responseSchema,
      Type.Object({ ...spec.responseSchema.properties, ...Object.fromEntries(schemas) }) as TObject as V,
    );
    const readAreas = (requested: string[]) => [
      ...new Set([
        ...spec.reads,
        ...[...groupByFirst(requested)].flatMap(([name, nested]) => includes[name]!.readAreas(nested)),
      ]),
    ];
    const serializer = { schema, names, readAreas, embed };
    return requiredIncludes.length === 0 ? serializer : withRequiredIncludes(requiredIncludes, serializer);
  };

/** Groups paths by their first part: `course.products` includes `course` with `products` in it. */
function groupByFirst(requested: string[]) {
  const tops = new Map<string, string[]>();
  for (const path of new Set(requested)) {
    const [top = '', ...rest] = path.split('.');
    const nested = tops.get(top) ?? [];
    if (rest.length > 0) nested.push(rest.join('.'));
    tops.set(top, nested);
  }
  return tops;
}

/** Makes includes required members, which `include[]` no longer accepts by themselves. */
const withRequiredIncludes = <Row, V extends TObject>(
  members: string[],
  serializer: Serializer<Row, V>,
): Serializer<Row, V> => ({
  schema: { ...serializer.schema, required: [...(serializer.schema.required ?? []), ...members] },
  names: serializer.names.filter((name) => !members.includes(name)),
  readAreas: (requested) => serializer.readAreas([...members, ...requested]),
  embed: (ctx, rows, query, requested) => serializer.embed(ctx, rows, query, [...members, ...requested]),
});
