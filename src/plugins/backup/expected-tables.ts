import { readMigrations } from '../../database/migration-history.ts';

const ofTable = /^(?:--.*\n|\s)*(CREATE|ALTER|DROP) (?:UNLOGGED )?TABLE "(\w+)"/;
const ofColumn = /^(?:\t|ALTER TABLE "\w+" ADD COLUMN )"(\w+)" (.+)$/gm;

/** The stored columns of each table after the first migrations of this build, and the sequences of ids, by their SQL. */
export function readExpectedTables(count: number) {
  const tables = new Map<string, string[]>();
  const sequences: string[] = [];
  for (const statement of readMigrations()
    .slice(0, count)
    .flatMap(({ sql }) => sql)) {
    const [, action, table = ''] = ofTable.exec(statement) ?? [];
    if (action === undefined) continue;
    const [, dropped] = /DROP COLUMN "(\w+)"/.exec(statement) ?? [];
    const kept = (tables.get(table) ?? []).filter((column) => column !== dropped);
    const added = [...statement.matchAll(ofColumn)].filter(([, , type]) => !type!.includes('GENERATED ALWAYS AS ('));
    tables.set(table, [...kept, ...added.map(([, column]) => column!)]);
    if (action === 'DROP') tables.delete(table);
    sequences.push(
      ...added.flatMap(([, , type]) => /ALWAYS AS IDENTITY \(sequence name "(\w+)"/.exec(type!)?.[1] ?? []),
    );
  }
  return { tables, sequences };
}
