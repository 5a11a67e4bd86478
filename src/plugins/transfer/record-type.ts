import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import { getTableName, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Ctx, WriteCtx } from '../../database/context.ts';
import { itemAt, Problem } from '../../core/errors.ts';
import { findStorage } from '../../lists/fields.ts';
import type { Database } from '../../database/client.ts';
import { columnName } from '../../database/tables/columns.ts';

export type Fields = Record<string, unknown>;

/** A field of a line: its column, its schema, and for a reference the record type it refers to. */
export type Field = { column: PgColumn; schema: TSchema; to?: string };

/** Data from the database that lines are checked against. */
export type ImportContext = { timezone: string; zones: Set<string>; schoolTitle: string };

/** Maps a line, or a part of it, to a row of a table. */
export type Item = {
  table: PgTable;
  fields: Record<string, Field>;
  parts?: Record<string, Part>;
  /** Write-only fields without a column, for `complete`. */
  accepts?: Record<string, TSchema>;
  /** Columns without a field; `complete` returns their values by these names. */
  derived?: Record<string, PgColumn>;
  /** Cross-field validation, which throws `invalidFields`, and default values that depend on other fields. */
  complete?: (fields: Fields, importContext: ImportContext, owner: Fields) => Fields | undefined | Promise<Fields>;
  /** SQL for columns that depend on other rows; `v` is the row to insert. */
  computed?: Record<string, string>;
  /** SQL over the row `t` for columns that an export converts. */
  exported?: Record<string, string>;
};

/**
 * A part of a line, stored in another table whose column `owner` refers to the line's item: a list of objects, a single
 * object, an object by key (such as a language), or a list of references. Of a table that two parts share, `exported` is
 * SQL for the rows `t` that are of this one.
 */
export type Part = { exported?: string } & PartForm;
type PartForm =
  | { form: 'list' | 'one'; owner: PgColumn; item: Item; kind?: string; maxItems?: number }
  | { form: 'by-key'; owner: PgColumn; item: Item; key: PgColumn; keys: string[] }
  | { form: 'links'; owner: PgColumn; other: PgColumn; to: string; maxItems?: number };

/** A record type with many lines, written in batches. Export writes the same fields. */
export type BulkRecordType = Item & {
  kind: string;
  /**
   * Checks across lines: a query over `staged_lines` and the tables returns each `line` with an invalid `field`, and its
   * `path` in the line unless that is the field; `$1` is the provider.
   */
  checks?: { field: string; text: string }[];
  /** A unique field, case-folded or `folded`; `among` is an SQL condition over `t` for the rows to compare with. */
  unique?: { field: string; folded?: true; among: string; applies: (fields: Fields) => boolean };
  /** Statement that updates `updated_at` of items that show the new ones; `ids` is a query for the new ids. */
  touches?: (providerId: number, now: string, ids: SQL) => SQL;
  /** Further writes once the lines are inserted; `ids` is a query for the new ids. */
  afterInsert?: (w: WriteCtx, ids: SQL) => Promise<void>;
  /** Further writes once all lines of the type are written, if the file has any. */
  afterAll?: (database: Database, ctx: Ctx) => Promise<void>;
};

/** A record type with few lines, written one by one through the services. */
export type SingleRecordType = {
  kind: string;
  schema: TObject;
  /** Record types that fields refer to, by field. */
  references?: Record<string, string>;
  /** Validation that needs the database, before anything is written. */
  verify?: (database: Database, fields: Fields) => Promise<void>;
  /** Creates the item, or finds an existing one. Returns its id. */
  create: (database: Database, ctx: Ctx, fields: Fields) => Promise<number>;
  export: (database: Database, providerId: number) => Promise<Fields[]>;
};

export type RecordType = BulkRecordType | SingleRecordType;
export const isBulk = (kind: RecordType): kind is BulkRecordType => 'table' in kind;

export const Ref = Type.String({ minLength: 1, maxLength: 255 });
export const RefList = Type.Array(Ref, { maxItems: 1_000 });

export const field = (column: PgColumn, schema: TSchema): Field => ({ column, schema });

/** The fields of a request body that columns hold. */
export const storedFields = (properties: Record<string, TSchema>): Record<string, Field> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, body]) => {
      const { column, to } = findStorage(body) ?? {};
      const schema = to === undefined ? body : Type.Optional(Ref);
      return column === undefined ? [] : [[name, { column, schema, to }] as const];
    }),
  );

/** A reference to a record type, optional unless `schema` requires it. */
export const refersTo = (to: string, column: PgColumn, schema: TSchema = Type.Optional(Ref)): Field => ({
  column,
  schema,
  to,
});

/** A list of references, each a row of a table with two columns. */
export const links = (owner: PgColumn, other: PgColumn, to: string, maxItems?: number): Part => ({
  form: 'links',
  owner,
  other,
  to,
  maxItems,
});

export const tableName = (item: { table: PgTable }) => getTableName(item.table);

/** A row to write: its values, and its unresolved references by column. */
export type StagedRow = {
  table: string;
  data: Fields;
  refs: Record<string, [kind: string, ref: string]>;
  /** Set if other lines can refer to the row. */
  ref_kind?: string;
  ref?: string;
};

export const lineSchema = (kind: RecordType): TObject =>
  Type.Object({ ref: Ref, ...(isBulk(kind) ? itemProperties(kind) : kind.schema.properties) });

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

/** Converts a valid line to rows, its main row first. */
export const toStagedRows = (kind: BulkRecordType, line: Fields, importContext: ImportContext) =>
  toItemRows(kind, line, importContext, { ref_kind: kind.kind, ref: line['ref'] as string }, {}, {});

type OwnRef = { ref_kind: string; ref: string };

async function toItemRows(
  item: Item,
  fields: Fields,
  importContext: ImportContext,
  own: OwnRef | undefined,
  baseRefs: StagedRow['refs'],
  owner: Fields,
): Promise<StagedRow[]> {
  const derived = (await item.complete?.(fields, importContext, owner)) ?? {};
  const row: StagedRow = { table: tableName(item), data: {}, refs: { ...baseRefs }, ...own };
  for (const [name, column] of Object.entries(item.derived ?? {})) row.data[columnName(column)] = derived[name];
  for (const [name, { column, to }] of Object.entries(item.fields)) {
    const value = fields[name];
    const valueOrDefault = value ?? (item.computed?.[columnName(column)] === undefined ? columnDefault(column) : null);
    if (to === undefined) row.data[columnName(column)] = valueOrDefault;
    else if (value !== undefined && value !== null) row.refs[columnName(column)] = [to, value as string];
    else row.data[columnName(column)] = null;
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
  const ownerRef = { [columnName(part.owner)]: [own.ref_kind, own.ref] as [string, string] };
  if (part.form === 'links') {
    const other = columnName(part.other);
    const table = tableName({ table: part.other.table });
    const linkedRefs = [...new Set(owner[name] as string[])];
    return linkedRefs.map((ref) => ({ table, data: {}, refs: { ...ownerRef, [other]: [part.to, ref] } }));
  }
  const rows = partItems(part, owner[name]).map(async ([key, fields], n) => {
    const hasRef = 'kind' in part && part.kind !== undefined;
    const ref = hasRef ? ((fields['ref'] as string | undefined) ?? `${own.ref}/${name}/${n + 1}`) : '';
    const partRef = hasRef ? { ref_kind: part.kind!, ref } : undefined;
    const path = { list: `${name}[${n}]`, one: name, 'by-key': `${name}.${key}` }[part.form];
    const itemRows = await toItemRows(part.item, fields, importContext, partRef, ownerRef, owner).catch(addPath(path));
    if (part.form === 'by-key') itemAt(itemRows).data[columnName(part.key)] = key;
    return itemRows;
  });
  return (await Promise.all(rows)).flat();
}

/** Names the fields of an error by their path in the line. */
const addPath = (path: string) => (error: unknown) => {
  if (!(error instanceof Problem)) throw error;
  const inPath = (names: string[]) => names.map((name) => `${path}.${name}`);
  throw Problem.invalidFields({ missing: inPath(error.missing), notValid: inPath(error.notValid) });
};

function partItems(part: Part, value: unknown): [key: string, fields: Fields][] {
  if (part.form === 'list') return (value as Fields[]).map((fields) => ['', fields]);
  if (part.form === 'one') return [['', value as Fields]];
  return Object.entries(value as Record<string, Fields>);
}

/** Default from the table definition, since staged rows have a value for every column. */
function columnDefault(column: PgColumn) {
  const value = column.default;
  return ['string', 'number', 'boolean'].includes(typeof value) ? value : null;
}
