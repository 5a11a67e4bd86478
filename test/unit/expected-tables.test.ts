import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readExpectedTables } from '../../src/plugins/backup/manifest.ts';

const [section] = readFileSync('test/snapshots/database-schema.txt', 'utf8').split('\n# indexes');
const lines = section!.split('\n');

test('the tables and columns that migrations make are read from their SQL', () => {
  const { tables, sequences } = readExpectedTables(Infinity);
  const columns = [...tables].flatMap(([table, names]) => names.map((name) => `${table}.${name}`));
  const stored = lines.filter((line) => /^\w+\.\w+ /.test(line) && !/ generated /.test(line));
  expect(columns.sort()).toEqual(stored.map((line) => line.split(' ')[0]).sort());
  const identities = lines.filter((line) => / identity$/.test(line)).map((line) => `${line.split('.')[0]}_id_seq`);
  // Roles may have chosen ids.
  expect(sequences.sort()).toEqual(identities.filter((name) => name !== 'roles_id_seq').sort());
});
