import type { Connection, QueryResult, Submittable } from 'pg';
import { isNullable, statements, toScalar, type DeclaredStatement } from '../../src/database/statement.ts';

/** Throws if a row of a declared statement has null where its declaration has none, or a column that it lacks. */
export function refuseUndeclaredNulls(name: string | undefined, { rows }: QueryResult<Record<string, unknown>>) {
  const declared = name === undefined ? undefined : statements.get(name);
  if (declared === undefined) return;
  for (const row of rows)
    for (const [column, kind] of Object.entries(declared.returns))
      if (row[column] === undefined || (row[column] === null && !isNullable(kind)))
        throw new Error(`${declared.name}: ${column} is ${String(row[column])}`);
}

/** Types of PostgreSQL by number; times and days are returned as text. */
const types: Record<ReturnType<typeof toScalar>, { taken: number[]; returned: number[] }> = {
  int: { taken: [20, 21, 23], returned: [20, 21, 23] },
  float: { taken: [700, 701], returned: [700, 701] },
  numeric: { taken: [1700], returned: [1700, 25] },
  text: { taken: [25, 1043], returned: [25, 1043, 19] },
  bool: { taken: [16], returned: [16] },
  moment: { taken: [1184, 1114], returned: [25] },
  day: { taken: [1082], returned: [25] },
  interval: { taken: [1186], returned: [25] },
  json: { taken: [114, 3802], returned: [114, 3802] },
};
const jsonTypes = types.json.taken;

type Described = { parameters: number[]; columns: [name: string, type: number][] };

/** What the declaration and PostgreSQL say differently. */
export function findDifferences({ takes, returns }: DeclaredStatement, { parameters, columns }: Described): string[] {
  const isTaken = (kind: DeclaredStatement['takes'][string], type: number) =>
    (typeof kind === 'object' && 'rows' in kind) || (typeof kind === 'string' && kind.endsWith('[]'))
      ? jsonTypes.includes(type)
      : types[toScalar(kind)].taken.includes(type);
  const wrong = Object.entries(takes).filter(([, kind], n) => !isTaken(kind, parameters[n]!));
  const actual = new Map(columns);
  const names = new Set([...Object.keys(returns), ...actual.keys()]);
  const differing = [...names].filter((name) => {
    const kind = returns[name];
    return kind === undefined || !types[toScalar(kind)].returned.includes(actual.get(name) ?? 0);
  });
  return [
    ...wrong.map(([name]) => `:${name} is of type ${parameters[Object.keys(takes).indexOf(name)]}`),
    ...differing.map((name) => `${name} is of type ${actual.get(name) ?? 'none'}`),
  ];
}

/** The types of a statement's parameters and columns, as PostgreSQL plans them. */
export class Describe implements Submittable {
  readonly described: Promise<Described>;
  private resolve!: (described: Described) => void;
  private reject!: (error: Error) => void;
  private result: Described = { parameters: [], columns: [] };
  private error: Error | undefined;
  private readonly text: string;
  constructor(text: string) {
    this.text = text;
    this.described = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
  submit(connection: Connection) {
    connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      this.result.parameters = dataTypeIDs;
    });
    connection.parse({ name: '', text: this.text, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }
  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
    this.result.columns = fields.map(({ name, dataTypeID }) => [name, dataTypeID]);
  }
  handleError(error: Error) {
    this.error = error;
  }
  handleReadyForQuery() {
    if (this.error) this.reject(this.error);
    else this.resolve(this.result);
  }
}
