import type { Queryable } from './statements.ts';

/** The kinds of parameters and columns: as JavaScript has them, and as PostgreSQL does. Times and days are text. */
type Scalars = {
  int: number;
  float: number;
  numeric: string;
  text: string;
  bool: boolean;
  moment: string;
  day: string;
  interval: string;
};
type Scalar = keyof Scalars;

const sqlTypes: Record<Scalar | 'json', string> = {
  int: 'bigint',
  float: 'double precision',
  numeric: 'numeric',
  text: 'text',
  bool: 'boolean',
  moment: 'timestamptz',
  day: 'date',
  interval: 'interval',
  json: 'json',
};

declare const value: unique symbol;
/** A kind whose values TypeScript knows better than PostgreSQL. `json` values are sent as text and read parsed. */
type Typed<T> = { readonly kind: Scalar | 'json'; readonly isNullable: boolean; readonly [value]?: T };

/** `?` may be null. */
type Kind = Scalar | `${Scalar}?` | Typed<unknown>;
/** A list, which stands for a query with one column in a text, as in `id in :ids`. */
type List = `${Scalar}[]`;
/** Rows have these columns and `place`, from 1. In a text they stand for a table of their name. */
type Rows = { readonly rows: Record<string, Kind> };
type Columns = Record<string, Kind>;
type Parameters = Record<string, Kind | List | Rows>;

type Of<K> = K extends Scalar
  ? Scalars[K]
  : K extends `${infer S extends Scalar}?`
    ? Scalars[S] | null
    : K extends Typed<infer T>
      ? T
      : never;
type Row<C extends Columns> = { -readonly [K in keyof C]: Of<C[K]> };
type Nullable<C extends Columns> = { [K in keyof C]: null extends Of<C[K]> ? K : never }[keyof C];
/** A nullable column that a sent row lacks is null. */
type SentRow<C extends Columns> = Readonly<Row<Omit<C, Nullable<C>>> & { [K in Nullable<C>]?: Of<C[K]> | undefined }>;
type Input<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends `${infer S extends Scalar}[]`
    ? readonly Scalars[S][]
    : P[K] extends { readonly rows: infer C extends Columns }
      ? readonly SentRow<C>[]
      : Of<P[K]>;
};

/** A row that a statement returns. */
export type RowOf<S extends { row: unknown }> = S['row'];

/** The declaration of a statement, which the tests compare with PostgreSQL. */
export type DeclaredStatement = { name: string; text: string; takes: Parameters; returns: Columns };

/** All statements by name. */
export const statements = new Map<string, DeclaredStatement>();

/** A kind with a narrower type, such as `typed<Language>('text')`. */
export const typed = <T>(kind: Scalar | 'json'): Typed<T> => ({ kind, isNullable: false });
export const typedOrNull = <T>(kind: Scalar | 'json'): Typed<T | null> => ({ kind, isNullable: true });
export const json = <T>() => typed<T>('json');

type Declaration<P, C> = {
  takes: P;
  returns?: C;
  /** Why the statement names no provider; required if it has no parameter `providerId`. */
  acrossSchools?: string;
};

/** Quoted text, comments and casts contain no parameters. */
const tokens = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::\w+|:([a-z]\w*)/g;

/** PostgreSQL's bound of a name. */
const maxNameLength = 63;

/**
 * Declares a prepared statement. `:name` in the text is a parameter of `takes`; `returns` are the columns. Throws if a
 * parameter is undeclared or unused. The statement returns its rows, `one` its only row, and `count` how many rows it
 * changed.
 */
export function statement<const P extends Parameters, const C extends Columns = Record<string, never>>(
  name: string,
  { takes, returns = {} as C, acrossSchools }: Declaration<P, C>,
  source: string,
) {
  const names = Object.keys(takes);
  const used = new Set<string>();
  const text = source.replace(tokens, (found, key?: string) => {
    if (key === undefined) return found;
    const parameter = takes[key];
    if (parameter === undefined) throw new Error(`${name}: :${key} is not declared`);
    used.add(key);
    return placeholder(parameter, key, `$${names.indexOf(key) + 1}`);
  });
  const unused = names.filter((one) => !used.has(one));
  if (unused.length > 0) throw new Error(`${name}: ${unused.join(', ')} is not used`);
  if (!used.has('providerId') && acrossSchools === undefined) throw new Error(`${name}: no provider is named`);
  if (statements.has(name) || name.length > maxNameLength) throw new Error(`${name}: the name is taken or too long`);
  statements.set(name, { name, text, takes, returns });

  const encoders = names.map((key) => [key as keyof P, encoder(takes[key]!)] as const);
  const send = (on: Queryable, input: Input<P>) =>
    on.$client.query<Row<C>>({ name, text, values: encoders.map(([key, encode]) => encode(input[key])) });
  const run = async (on: Queryable, input: Input<P>) => (await send(on, input)).rows;
  Object.defineProperty(run, 'name', { value: name });
  return Object.assign(run, {
    one: async (on: Queryable, input: Input<P>) => {
      const { rows } = await send(on, input);
      if (rows.length !== 1) throw new Error(`${name} returned ${rows.length} rows`);
      return rows[0]!;
    },
    count: async (on: Queryable, input: Input<P>) => (await send(on, input)).rowCount ?? 0,
    text,
    row: undefined as unknown as Row<C>,
  });
}

/** Lists and rows are one JSON parameter, since arrays are planned anew for each number of elements. */
function placeholder(parameter: Parameters[string], name: string, place: string) {
  if (isRows(parameter)) {
    const columns = Object.entries(parameter.rows).map(([column, kind]) => `, "${column}" ${sqlTypes[toScalar(kind)]}`);
    return `json_to_recordset(${place}) as "${name}"(place int${columns.join('')})`;
  }
  return isList(parameter) ? `(select json_array_elements_text(${place})::${sqlTypes[toScalar(parameter)]})` : place;
}

function encoder(parameter: Parameters[string]): (value: unknown) => unknown {
  if (isRows(parameter)) return (rows) => toRecordset(rows as object[]);
  if (isList(parameter) || toScalar(parameter) === 'json') return toJson;
  return (value) => value;
}

/** Rows as one JSON parameter with their `place` from 1; unlike arrays, it keeps one plan for any number of rows. */
const toRecordset = (rows: object[]) => JSON.stringify(rows.map((row, n) => ({ ...row, place: n + 1 })));

const toJson = (value: unknown) => (value === null ? null : JSON.stringify(value));

const isRows = (parameter: Parameters[string]): parameter is Rows =>
  typeof parameter === 'object' && 'rows' in parameter;
const isList = (parameter: Kind | List): parameter is List => typeof parameter === 'string' && parameter.endsWith('[]');

/** The kind of values that are not null. */
export const toScalar = (kind: Kind | List) =>
  (typeof kind === 'string' ? kind.replace(/\?|\[\]/, '') : kind.kind) as keyof typeof sqlTypes;
export const isNullable = (kind: Kind) => (typeof kind === 'string' ? kind.endsWith('?') : kind.isNullable);
