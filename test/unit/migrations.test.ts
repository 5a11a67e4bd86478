import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { releases } from '../../src/database/releases.ts';

const folder = join(import.meta.dirname, '../../migrations');

test('a landed migration is never edited or reordered, and a new one is recorded', () => {
  const recorded = readFileSync(join(import.meta.dirname, '../snapshots/migrations.sha256'), 'utf8');
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { idx: number; tag: string; when: number }[];
  };
  const sums = journal.entries.map(({ tag }) => {
    const file = `${tag}.sql`;
    return `${createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')}  ${file}\n`;
  });
  expect(sums.join('')).toBe(recorded);
  expect(journal.entries.map(({ idx }) => idx)).toEqual(journal.entries.map((_, n) => n));
  const times = journal.entries.map(({ when }) => when);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('the releases of the database are the minor versions of the changelog', () => {
  const changelog = readFileSync(join(import.meta.dirname, '../../docs/CHANGELOG.md'), 'utf8');
  const versions = [...changelog.matchAll(/^## \[(\d+\.\d+)\.\d+\]/gm)].map(([, minor]) => minor!);
  expect(releases).toEqual([...new Set(versions)].toReversed());
});
