import { Value } from '@sinclair/typebox/value';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { Problem } from '../../core/errors.ts';
import {
  compareMigrations,
  describeMigrationDifferences,
  fromFirstMigration,
  readMigrations,
} from '../../database/migration-history.ts';
import { formatName, formatVersion, ManifestFields, type Manifest } from './format.ts';

/** A manifest of this service has about 20 kB. */
export const maxManifestBytes = 4_194_304;

/** Reads the manifest of an archive, which any program may have written. */
export async function parseManifest(file: string, stream: Readable): Promise<Manifest> {
  const value = (await json(stream)) as { format?: unknown; formatVersion?: unknown } | null;
  if (value?.format !== formatName) throw new Problem('invalid', `${file} is no backup of this service`);
  if (value.formatVersion !== formatVersion)
    throw new Problem(
      'invalid',
      `${file} is of format ${JSON.stringify(value.formatVersion)}: read it with a newer version`,
    );
  if (!Value.Check(ManifestFields, value)) {
    const { path } = Value.Errors(ManifestFields, value).First()!;
    throw new Problem('invalid', `${file} is no backup of this service: its manifest has a wrong value at ${path}`);
  }
  return { ...value, migrations: fromFirstMigration(value.migrations), format: formatName, formatVersion };
}

/** Reason for which this version does not restore a whole backup; undefined if it does. */
export function findObstacle(
  manifest: Manifest & { behind?: string[] },
  { acceptMigrations = false }: { acceptMigrations?: boolean | undefined } = {},
) {
  const { migrations, serviceVersion, sequences, behind = [] } = manifest;
  const { changed, replaced, newer } = compareMigrations(migrations);
  if (replaced !== undefined || newer > 0) {
    const place = replaced === undefined ? '' : `, one of them in the place of ${replaced}`;
    return `The backup was made by version ${serviceVersion} with migrations that this version does not have${place}: use that version or a newer one`;
  }
  if (changed.length > 0 && !acceptMigrations)
    return `${describeMigrationDifferences({ changed, newer }).join('')}: restore with version ${serviceVersion}, or with \`--accept-migrations\``;
  const ended = sequences.filter(({ lastValue }) => BigInt(lastValue) >= maxSequenceValue);
  if (ended.length > 0) return describeEndedSequences(ended.map(({ name }) => name));
  if (behind.length > 0) return describeSequencesBehind(behind);
  return findWrongTable(manifest);
}

function findWrongTable({ migrations, tables, sequences }: Manifest) {
  const expected = readExpectedTables(migrations.length);
  const names = tables.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) < n);
  if (twice !== undefined) return `The backup has the table ${twice} twice`;
  const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]));
  for (const [name, columns] of expected.tables) {
    const stored = columnsOf.get(name);
    if (!stored) return `The backup lacks the table ${name}`;
    const inOne = [...stored, ...columns].filter((one, _, all) => all.filter((other) => other === one).length !== 2);
    if (inOne.length > 0)
      return `The table ${name} of the backup has other columns than its migrations make: ${[...new Set(inOne)].join(', ')}`;
  }
  const missing = expected.sequences.find((name) => sequences.every((one) => one.name !== name));
  return missing && `The backup lacks the sequence ${missing}`;
}

/** The largest bigint. */
const maxSequenceValue = 2n ** 63n - 1n;

export const describeEndedSequences = (names: string[]) =>
  `${names.length === 1 ? 'The sequence' : 'The sequences'} ${names.join(', ')} ${names.length === 1 ? 'is at its' : 'are at their'} end: no row could be added`;

export const describeSequencesBehind = (names: string[]) =>
  `The next id is one that a row has already, by the sequence ${names.join(', ')}`;

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
