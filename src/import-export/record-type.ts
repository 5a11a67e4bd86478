import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import { getTableName, type SQL } from 'drizzle-orm';
import { toSnakeCase } from 'drizzle-orm/casing';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Ctx } from '../core/context.ts';
import type { Database } from '../database/client.ts';

export type Fields = Record<string, unknown>;

/** One field of a line: the column that holds it, how it is read and checked, and the kind of line it refers to. */
export type Field = { column: PgColumn; schema: TSchema; to?: string };

/** What the database knows and lines are checked against. */
export type ImportContext = { timezone: string; zones: Set<string> };

/** The rows that a line, or a member of it, becomes in one table. */
export type Item = {
  table: PgTable;
  fields: Record<string, Field>;
  parts?: Record<string, Part>;
  /** Fields that no column holds and no export writes; `complete` makes something of them. */
  accepts?: Record<string, TSchema>;
  /** Columns that no field holds; `complete` answers them by these names. */
  derived?: Record<string, PgColumn>;
  /** Checks fields together, throwing `invalidFields`, and fills in what follows from others. */
  complete?: (fields: Fields, importContext: ImportContext, owner: Fields) => Fields | undefined | Promise<Fields>;
  /** Columns that follow from other rows, as SQL; `v` is the row as it will be inserted. */
  computed?: Record<string, string>;
  /** Columns that an export writes otherwise than they are stored, as SQL over the row `t`. */
  exported?: Record<string, string>;
};

/**
 * A member of a line that becomes rows of another table, each with the line's item in its column `owner`: a list of
 * objects, one object, an object by key (such as a language), or a list of references.
 */
export type Part =
  | { form: 'list' | 'one'; owner: PgColumn; item: Item; kind?: string; maxItems?: number }
  | { form: 'by-key'; owner: PgColumn; item: Item; key: PgColumn; keys: string[] }
  | { form: 'links'; owner: PgColumn; other: PgColumn; to: string; maxItems?: number };

/** Lines that are many: checked by these fields, and written many at a time. Export writes the same fields. */
export type BulkRecordType = Item & {
  kind: string;
  /**
   * What fields must hold between lines: a query over `import_rows` and the tables, `$1` being the provider, that
   * answers the `line` of each row whose `field` does not.
   */
  checks?: { field: string; text: string }[];
  /** A field that no two items may share, without regard to case; `among` says among which rows, as SQL over `t`. */
  unique?: { field: string; among: string; applies: (fields: Fields) => boolean };
  /** Moves the stamps of other items that show the ones just written `at` this instant; `ids` is a query of their ids. */
  touches?: (providerId: number, now: string, ids: SQL) => SQL;
};

/** Lines that are few, and go one by one through the services that the command line and the interface call. */
export type SingleRecordType = {
  kind: string;
  schema: TObject;
  /** Fields that refer to lines of another kind. */
  references?: Record<string, string>;
  /** Refuses what only the database knows, before anything is written. */
  verify?: (database: Database, fields: Fields) => Promise<void>;
  /** Makes the item, or finds the one that is there already; answers its id. */
  create: (database: Database, ctx: Ctx, fields: Fields) => Promise<number>;
  /** All lines that an export of the provider writes. */
  export: (database: Database, providerId: number) => Promise<Fields[]>;
};

export type RecordType = BulkRecordType | SingleRecordType;
export const isBulk = (kind: RecordType): kind is BulkRecordType => 'table' in kind;

export const Ref = Type.String({ minLength: 1, maxLength: 255 });
export const RefList = Type.Array(Ref, { maxItems: 1_000 });

export const field = (column: PgColumn, schema: TSchema): Field => ({ column, schema });
/** Fields of an interface's body, each by the column that holds it. */
export const bodyFields = <P extends Record<string, TSchema>>(
  properties: P,
  columns: Partial<Record<keyof P, Field['column']>>,
) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, field(column as Field['column'], properties[name]!)]),
  );

/** A reference that may be left out; the schema says so when it may not. */
export const refersTo = (to: string, column: PgColumn, schema: TSchema = Type.Optional(Ref)): Field => ({
  column,
  schema,
  to,
});

/** The names as the database has them. */
export function getName(column: PgColumn): string {
  const known = names.get(column) ?? (column.keyAsName ? toSnakeCase(column.name) : column.name);
  names.set(column, known);
  return known;
}
const names = new Map<PgColumn, string>();
export const tableOf = (item: { table: PgTable }) => getTableName(item.table);

/** A row that waits to be written: its values, and the references among them that are still refs, by column. */
export type StagedRow = {
  table: string;
  data: Fields;
  refs: Record<string, [kind: string, ref: string]>;
  /** Set where the row's item can be referred to itself. */
  ref_kind?: string;
  ref?: string;
};

/** What a line of a kind may hold. */
export function lineSchema(kind: RecordType): TObject {
  return isBulk(kind)
    ? Type.Object({ ref: Ref, ...itemProperties(kind) })
    : Type.Object({ ref: Ref, ...kind.schema.properties });
}

function itemProperties({ fields, accepts = {}, parts = {} }: Item): Record<string, TSchema> {
  return {
    ...accepts,
    ...Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, Type.Optional(partSchema(part))])),
  };
}

function partSchema(part: Part): TSchema {
  if (part.form === 'links') return part.maxItems === undefined ? RefList : { ...RefList, maxItems: part.maxItems };
  const object = Type.Object({
    ...('kind' in part && part.kind !== undefined ? { ref: Type.Optional(Ref) } : {}),
    ...itemProperties(part.item),
  });
  if (part.form === 'by-key')
    return Type.Unsafe({ type: 'object', propertyNames: { enum: part.keys }, additionalProperties: object });
  return part.form === 'list' ? Type.Array(object, { maxItems: part.maxItems ?? 1_000 }) : object;
}

/** The rows of a line that has been checked, its own first. */
export async function toStagedRows(
  kind: BulkRecordType,
  line: Fields,
  importContext: ImportContext,
): Promise<StagedRow[]> {
  const own = { ref_kind: kind.kind, ref: line['ref'] as string };
  return toItemRows(kind, line, importContext, own, {}, {});
}

type OwnRef = { ref_kind: string; ref: string };

async function toItemRows(
  item: Item,
  fields: Fields,
  importContext: ImportContext,
  own: OwnRef | undefined,
  given: Pick<StagedRow, 'refs'> | Record<string, never>,
  owner: Fields,
): Promise<StagedRow[]> {
  const derived = (await item.complete?.(fields, importContext, owner)) ?? {};
  const row: StagedRow = { table: tableOf(item), data: {}, refs: { ...given.refs }, ...own };
  for (const [name, column] of Object.entries(item.derived ?? {})) row.data[getName(column)] = derived[name];
  for (const [name, { column, to }] of Object.entries(item.fields)) {
    const value = fields[name];
    const given = value ?? (item.computed?.[getName(column)] === undefined ? columnDefault(column) : null);
    if (to === undefined) row.data[getName(column)] = given;
    else if (value !== undefined && value !== null) row.refs[getName(column)] = [to, value as string];
    else row.data[getName(column)] = null;
  }
  const parts = Object.entries(item.parts ?? {}).map(([name, part]) =>
    fields[name] === undefined ? Promise.resolve([]) : toPartRows(name, part, fields, importContext, own!),
  );
  return [row, ...(await Promise.all(parts)).flat()];
}

async function toPartRows(
  name: string,
  part: Part,
  owner: Fields,
  importContext: ImportContext,
  own: OwnRef,
): Promise<StagedRow[]> {
  const ownerRef = { [getName(part.owner)]: [own.ref_kind, own.ref] as [string, string] };
  if (part.form === 'links') {
    const other = getName(part.other);
    const table = tableOf({ table: part.other.table });
    const linked = [...new Set(owner[name] as string[])];
    return linked.map((ref) => ({ table, data: {}, refs: { ...ownerRef, [other]: [part.to, ref] } }));
  }
  const rows = partItems(part, owner[name]).map(([key, fields], n) => {
    const named = 'kind' in part && part.kind !== undefined;
    const ref = named ? ((fields['ref'] as string | undefined) ?? `${own.ref}/${name}/${n + 1}`) : '';
    const itemOwn = named ? { ref_kind: part.kind!, ref } : undefined;
    const created = toItemRows(part.item, fields, importContext, itemOwn, { refs: ownerRef }, owner);
    return created.then((all) => {
      if (part.form === 'by-key') all[0]!.data[getName(part.key)] = key;
      return all;
    });
  });
  return (await Promise.all(rows)).flat();
}

function partItems(part: Part, value: unknown): [key: string, fields: Fields][] {
  if (part.form === 'list') return (value as Fields[]).map((fields) => ['', fields]);
  if (part.form === 'one') return [['', value as Fields]];
  return Object.entries(value as Record<string, Fields>);
}

/** The table's own default, since a row that waits holds a value for every column. */
function columnDefault(column: PgColumn) {
  const value = column.default;
  return ['string', 'number', 'boolean'].includes(typeof value) ? value : null;
}
