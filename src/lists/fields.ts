import {
  Type,
  type ObjectOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from '@sinclair/typebox';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { AmountText, byName, Day, keysOf, PercentageText, t, type Declare } from '../core/schema/types.ts';
import { formatTimestamp } from '../core/timestamps.ts';
import type { Ctx } from '../database/context.ts';
import type { InputAlias } from './input-aliases.ts';

type Stored<C extends PgColumn> = C['_']['notNull'] extends true ? C['_']['data'] : C['_']['data'] | null;

/** One field of a resource: a member of answers, of bodies and of import files, each unless undefined. */
type Field<I = TSchema | undefined, S = TSchema | undefined> = {
  column?: PgColumn;
  /** The record type of import files that it names. */
  to?: string | undefined;
  input: I;
  imported?: TSchema | undefined;
  shown: S;
  read?: string | ((row: never, relations: never, ctx: Ctx) => unknown) | undefined;
  reads?: InputAlias[] | undefined;
};
type Fields = Record<string, Field>;

/** Schema key of the column that holds a field: writes of bodies fill it, and files of import and export have it. */
const storage = Symbol('storage');
type Storage = { column: PgColumn; to?: string | undefined };
export const findStorage = (schema: TSchema) => (schema as { [storage]?: Storage })[storage];

type Inputs<F extends Record<keyof F, { input: unknown }>> = Properties<{
  [K in keyof F as F[K]['input'] extends TSchema ? K : never]: F[K]['input'];
}>;
type Shown<F extends Fields, Omitted> = Properties<{
  [K in keyof F as F[K]['shown'] extends TSchema ? Exclude<K, Omitted> : never]: F[K]['shown'];
}>;
type ItemSchema<F extends Fields, Omitted> = TObject<Shown<F, Omitted>>;
type Properties<P> = P extends TProperties ? P : never;

/** The schemas of an update of which some are others; undefined is a field that only a create takes. */
type Changed<F extends Fields, X> = Inputs<{ [K in keyof F]: K extends keyof X ? { input: X[K] } : F[K] }>;

type Read<Row, Relations, V> = (row: Row, relations: Relations, ctx: Ctx) => V;

type Options<Row, Relations, S extends TSchema> = {
  /** The schema in answers, by default that of the column. */
  shown?: S;
  read?: Read<Row, Relations, Static<S>>;
  to?: string;
  /** Where answers have the input under another name, the preferred first. */
  reads?: InputAlias[];
  /** The schema in import files, by default that of bodies; true is that of the column. */
  imported?: TSchema | true;
};

/** A column that answers show, and bodies with an input take. */
type ShownKind<Row, Relations> = ByInput<true> & {
  <C extends PgColumn, I extends TSchema | undefined, S extends TSchema = TUnsafe<Stored<C>>>(
    column: C,
    input?: I,
    options?: Options<Row, Relations, S>,
  ): Field<NoInfer<I>, NoInfer<S>>;
  /** A value that no column holds as answers show it; bodies with an input take it. Only `item` needs `read`. */
  value<S extends TSchema, I extends TSchema | undefined = undefined>(
    shown: S,
    read?: Read<Row, Relations, Static<S>>,
    input?: I,
  ): Field<I, S>;
};

function shownTo<Row, Relations>(access: Declare) {
  const field = (column: PgColumn, input?: TSchema, options: Partial<Options<never, never, TSchema>> = {}): Field => {
    const { shown = toSchema(column), read = toRead(column), to, reads, imported: given = input } = options;
    const imported = given === true ? toImported(column) : given;
    return { column, to, input, imported, shown: access(shown), read, reads };
  };
  const value = (shown: TSchema, read?: Field['read'], input?: TSchema): Field => ({
    input,
    shown: access(shown),
    read,
  });
  return Object.assign(field, byInput(field), { value }) as unknown as ShownKind<Row, Relations>;
}

/** A column of bodies and import files that answers show in another form. */
function writtenField<I extends TSchema>(
  column: PgColumn,
  input: I,
  options: Pick<Field, 'to' | 'reads'> = {},
): Field<I, undefined> {
  return { ...options, column, input, imported: input, shown: undefined };
}

/** Inputs that need no value. */
const inputs = {
  line: (options: InputOptions) => Type.Optional(t.Line(options)),
  longLine: (options: InputOptions) => Type.Optional(t.LongLine(options)),
  note: (options: InputOptions) => Type.Optional(t.Note(options)),
  email: (options: InputOptions) => Type.Optional(t.Email(options)),
  count: (options: InputOptions) => t.withDefault(t.Count(options), 0),
  flag: (options: InputOptions) => t.withDefault(Type.Boolean(options), false),
};
type InputOptions = { description?: string };
type InputName = keyof typeof inputs;

type ByInput<IsShown> = {
  [K in InputName]: <C extends PgColumn>(
    column: C,
    description?: string,
    ...reads: InputAlias[]
  ) => Field<ReturnType<(typeof inputs)[K]>, IsShown extends true ? TUnsafe<Stored<C>> : undefined>;
};
const byInput = (field: (column: PgColumn, input: TSchema, options: { reads: InputAlias[] }) => Field) =>
  byName(
    keysOf(inputs),
    (name) =>
      (column: PgColumn, description?: string, ...reads: InputAlias[]) =>
        field(column, inputs[name](description === undefined ? {} : { description }), { reads }),
  );
const written = Object.assign(writtenField, byInput(writtenField) as ByInput<false>, {
  /** A field of bodies alone that no column holds. */
  value: <I extends TSchema>(input: I, ...reads: InputAlias[]): Field<I, undefined> => ({
    input,
    shown: undefined,
    reads,
  }),
});

/** A column that import files alone have. */
const imported = (column: PgColumn, schema = toImported(column)): Field<undefined, undefined> => ({
  column,
  input: undefined,
  imported: schema,
  shown: undefined,
});

/**
 * The kinds of fields of a resource, by who sees them in answers, with `define`; `Row` is what answers are derived from,
 * `Relations` the loaded values beside it.
 */
export function fieldsOf<Row, Relations = unknown>() {
  const { open, shared, closed, personal, financial } = t.member;
  return {
    shownTo: shownTo<Row, Relations>,
    open: shownTo<Row, Relations>(open),
    shared: shownTo<Row, Relations>(shared),
    closed: shownTo<Row, Relations>(closed),
    personal: shownTo<Row, Relations>(personal),
    financial: shownTo<Row, Relations>(financial),
    written,
    imported,
    define: <F extends Fields>(fields: F, last?: LastNames) => define<F, Row, Relations>(fields, last),
  };
}

/** Names that come last in answers and in bodies, whose errors name fields in this order. */
type LastNames = { answer?: string; body?: string };

/** Declares the fields of a resource, in the order of import files. */
function define<F extends Fields, Row, Relations>(fields: F, { answer = '', body = '' }: LastNames = {}) {
  const members = select(fields, 'shown', answer);
  /** The schema of an item with all members but `omitted`. */
  function schema<O extends keyof F = never>(name: string, omitted: O[] = []): ItemSchema<F, O> {
    const left: PropertyKey[] = omitted;
    const entries = Object.entries(members).filter(([one]) => !left.includes(one));
    return t.NamedObject(name, Object.fromEntries(entries) as Shown<F, O>);
  }
  return {
    /** The fields of import files. */
    imported: select(fields, 'imported', ''),
    /** Inputs of an update by where answers have them. */
    inputAliases: Object.fromEntries(
      Object.entries(fields).flatMap(([name, { reads = [] }]) => (reads.length > 0 ? [[name, reads] as const] : [])),
    ),
    body: (name: string, options?: ObjectOptions) =>
      t.NamedObject(name, select(fields, 'input', body) as Inputs<F>, options),
    /** Declares an update, with other schemas of some fields; undefined for those that only a create takes. */
    update<X extends Partial<Record<keyof F, TSchema | undefined>> = object>(
      name: string,
      options?: ObjectOptions,
      others?: X,
    ) {
      const changed: Fields = { ...fields };
      for (const [one, input] of Object.entries<TSchema | undefined>({ ...others }))
        changed[one] = { ...fields[one]!, input };
      const properties = select(changed, 'input', body);
      return t.NamedObject(name, t.partialUpdate(properties as Changed<F, X>), options);
    },
    schema,
    /** `schema` and the function from a row to such an item. */
    item<O extends keyof F = never>(name: string, omitted?: O[]) {
      const item = schema(name, omitted);
      const toItem = compileItem(fields, Object.keys(item.properties));
      return [item, toItem as Read<Row, Relations, Static<ItemSchema<F, O>>>] as const;
    },
  };
}

const isMoment = (column: PgColumn) => column.getSQLType().startsWith('timestamp');

function toSchema(column: PgColumn): TSchema {
  const byType = { boolean: Type.Boolean(), number: Type.Integer(), string: Type.String() };
  const schema = isMoment(column) ? t.DateTime : byType[column.dataType as keyof typeof byType];
  return column.notNull ? schema : t.Nullable(schema);
}

/** The schema of a column in import files, by its type unless that is `given`; required if the column is. */
export function toImported(column: PgColumn, given?: TSchema): TSchema {
  const isRequired = column.notNull && !column.hasDefault;
  const byType: Record<string, TSchema> = {
    boolean: Type.Boolean(),
    date: Day,
    jsonb: t.CustomProperties,
    'numeric(12, 2)': AmountText,
    'numeric(5, 2)': PercentageText,
    text: isRequired ? t.Title() : t.Line(),
    'timestamp(6) with time zone': t.StoredMoment(),
  };
  const schema = given ?? byType[column.getSQLType()];
  if (schema === undefined) throw new Error(`A field of the type ${column.getSQLType()} needs a schema`);
  return isRequired ? schema : Type.Optional(schema);
}

/** The key of the column in rows, or a function of a row. */
function toRead(column: PgColumn) {
  const [key] = Object.entries(getTableColumns(column.table)).find(([, one]) => one === column)!;
  return isMoment(column) ? (row: Record<string, string | null>) => formatTimestamp(row[key]!) : key;
}

/** A literal of all members, which is built twice as fast as one that gets them one by one. */
function compileItem(fields: Fields, names: string[]) {
  const reads = names.map((name) => fields[name]!.read);
  const members = reads.map((read, n) => {
    const value = typeof read === 'string' ? `row.${read}` : `reads[${n}](row, relations, ctx)`;
    return `${JSON.stringify(names[n])}: ${value}`;
  });
  const code = `return (row, relations, ctx) => ({ ${members.join(', ')} })`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the names are those of our own fields and columns
  return (new Function('reads', code) as (all: typeof reads) => unknown)(reads);
}

/** The members of one use, those of `last` at the end in its order, with the columns that hold them. */
function select(fields: Fields, use: 'input' | 'imported' | 'shown', last: string): TProperties {
  const names = last.split(' ').filter(Boolean);
  const ordered = [...Object.keys(fields).filter((name) => !names.includes(name)), ...names];
  return Object.fromEntries(
    ordered.flatMap((name) => {
      const { [use]: schema, column, to } = fields[name]!;
      if (schema === undefined && (use !== 'imported' || to === undefined)) return [];
      const found = schema ?? Type.Any();
      const isStored = use !== 'shown' && column !== undefined;
      return [[name, isStored ? { ...found, [storage]: { column, to } satisfies Storage } : found] as const];
    }),
  );
}
