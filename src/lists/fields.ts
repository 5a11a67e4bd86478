import { Type, type ObjectOptions, type Static, type TProperties, type TSchema, type TUnsafe } from '@sinclair/typebox';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { byName, t, type Declare } from '../core/schema/types.ts';
import { formatTimestamp } from '../core/timestamps.ts';
import type { Ctx } from '../database/context.ts';

type Stored<C extends PgColumn> = C['_']['notNull'] extends true ? C['_']['data'] : C['_']['data'] | null;

/** One field of a resource: a member of answers, of bodies and of import files, each unless undefined. */
type Field<I = TSchema | undefined, S = TSchema | undefined> = {
  column?: PgColumn;
  /** The record type of import files that it names. */
  to?: string | undefined;
  input: I;
  imported: TSchema | undefined;
  shown: S;
  read?: string | ((row: never, relations: never, ctx: Ctx) => unknown) | undefined;
};
type Fields = Record<string, Field>;

type Inputs<F extends Fields> = {
  [K in keyof F as F[K]['input'] extends TSchema ? K : never]: F[K]['input'] & TSchema;
};
type Shown<F extends Fields> = {
  [K in keyof F as F[K]['shown'] extends TSchema ? K : never]: F[K]['shown'] & TSchema;
};
type Without<P, O> = { [K in Exclude<keyof P, O>]: P[K] } extends infer Q extends TProperties ? Q : never;

/**
 * The kinds of fields of a resource, by who sees them in answers, with `define`; `Row` is what answers are derived from,
 * `Relations` the loaded values beside it.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the others are inferred
export function fieldsOf<Row, Relations = unknown>() {
  type Read<V> = (row: Row, relations: Relations, ctx: Ctx) => V;
  type Options<S extends TSchema> = {
    /** The schema in answers, by default that of the column. */
    shown?: S;
    read?: Read<Static<S>>;
    to?: string;
    /** The schema in import files, by default that of bodies. */
    imported?: TSchema;
  };

  /** A column that answers show, and bodies with an input take. */
  const shownTo = (access: Declare) => {
    function field<C extends PgColumn, I extends TSchema | undefined, S extends TSchema = TUnsafe<Stored<C>>>(
      column: C,
      input?: I,
      options: Options<S> = {},
    ): Field<NoInfer<I>, NoInfer<S>> {
      const { shown = toSchema(column) as S, read = toRead(column), to, imported = input } = options;
      return { column, to, input: input as I, imported, shown: access(shown), read };
    }
    return Object.assign(field, byKind(field) as ByKind, {
      /** A value that no column holds as answers show it; bodies with an input take it. Only `item` needs `read`. */
      value: <S extends TSchema, I extends TSchema | undefined = undefined>(
        shown: S,
        read?: Read<Static<S>>,
        input?: I,
      ): Field<I, S> => ({ ...{ input: input as I, imported: undefined, shown: access(shown), read } }),
    });
  };
  return {
    shownTo,
    ...{ open: shownTo(t.member.open), shared: shownTo(t.member.shared), closed: shownTo(t.member.closed) },
    ...{ personal: shownTo(t.member.personal), financial: shownTo(t.member.financial) },
    ...{ written, imported, define: define<Row, Relations>() },
  };
}

/**
 * Declares the fields of a resource, in the order of import files. The names in `answer` and `body` come last in answers
 * and in bodies, whose errors name fields in this order.
 */
const define =
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the others are inferred
  <Row, Relations>() =>
    <F extends Fields>(fields: F, { answer = '', body = '' } = {}) => {
      const inputs = select(fields, 'input', body) as Without<Inputs<F>, never>;
      const members = select(fields, 'shown', answer);
      /** The schema of an item with all members but `omitted`. */
      function schema<O extends keyof F = never>(name: string, omitted: O[] = []) {
        const entries = Object.entries(members).filter(([one]) => !omitted.includes(one as O));
        return t.NamedObject(name, Object.fromEntries(entries) as Without<Shown<F>, O>);
      }
      return {
        /** The fields of import files. */
        imported: select(fields, 'imported', ''),
        body: (name: string, options?: ObjectOptions) => t.NamedObject(name, inputs, options),
        /** Replaces the schemas of some fields in an update; undefined for those that only a create takes. */
        // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- most updates have the same schemas
        update<X extends Partial<Record<keyof F, TSchema | undefined>> = Record<never, never>>(
          name: string,
          options?: ObjectOptions,
          others: X = {} as X,
        ) {
          const changed = Object.entries(others).map(([one, input]) => [
            one,
            { ...fields[one], input: input as TSchema },
          ]);
          const properties = select({ ...fields, ...Object.fromEntries(changed) } as Fields, 'input', body);
          type Changed = Inputs<{ [K in keyof F]: K extends keyof X ? Field<X[K]> : F[K] }>;
          return t.NamedObject(name, t.partialUpdate(properties as Without<Changed, never>), options);
        },
        schema,
        /** `schema` and the function from a row to such an item. */
        item<O extends keyof F = never>(...args: Parameters<typeof schema<O>>) {
          const item = schema(...args);
          type ToItem = (row: Row, relations: Relations, ctx: Ctx) => Static<typeof item>;
          return [item, compileItem(fields, Object.keys(item.properties)) as ToItem] as const;
        },
      };
    };

type Options = { description?: string };
/** Inputs that need no value. */
const kinds = {
  line: (options: Options) => Type.Optional(t.Line(options)),
  longLine: (options: Options) => Type.Optional(t.LongLine(options)),
  note: (options: Options) => Type.Optional(t.Note(options)),
  email: (options: Options) => Type.Optional(t.Email(options)),
  count: (options: Options) => t.withDefault(t.Count(options), 0),
  flag: (options: Options) => t.withDefault(Type.Boolean(options), false),
};
const byKind = (field: (column: PgColumn, input: TSchema) => Field) =>
  byName(
    Object.keys(kinds) as (keyof typeof kinds)[],
    (kind) => (column: PgColumn, description?: string) =>
      field(column, kinds[kind](description === undefined ? {} : { description })),
  );
type ByKind<Shown extends boolean = true> = {
  [K in keyof typeof kinds]: <C extends PgColumn>(
    column: C,
    description?: string,
  ) => Field<ReturnType<(typeof kinds)[K]>, Shown extends true ? TUnsafe<Stored<C>> : undefined>;
};

/** A column of bodies and import files that answers show in another form. */
function writtenField<I extends TSchema>(column: PgColumn, input: I, to?: string): Field<I, undefined> {
  return { column, to, input, imported: input, shown: undefined };
}
/** A column that import files alone have. */
const imported = (column: PgColumn, schema: TSchema): Field<undefined, undefined> => ({
  ...{ column, input: undefined, imported: schema, shown: undefined },
});
const written = Object.assign(writtenField, byKind(writtenField) as ByKind<false>, {
  /** A field of bodies alone that no column holds. */
  value: <I extends TSchema>(input: I): Field<I, undefined> => ({ input, imported: undefined, shown: undefined }),
});

const isMoment = (column: PgColumn) => column.getSQLType().startsWith('timestamp');

function toSchema(column: PgColumn): TSchema {
  const byType = { boolean: Type.Boolean(), number: Type.Integer(), string: Type.String() };
  const schema = isMoment(column) ? t.DateTime : byType[column.dataType as keyof typeof byType];
  return column.notNull ? schema : t.Nullable(schema);
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
      return [[name, use === 'shown' || !column ? found : t.stored(column, found, to)] as const];
    }),
  );
}
