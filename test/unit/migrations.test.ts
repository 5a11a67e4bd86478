import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  compareMigrations,
  describeMigrationDifferences,
  readMigrations,
} from '../../src/database/migration-history.ts';
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

const runGit = (folder: string, ...args: string[]) => spawnSync('git', args, { cwd: folder, encoding: 'utf8' });

/** Files of a folder that a commit after the one that added them has changed, with its subject; the oldest first. */
function findLaterEdits(root: string) {
  const { stdout } = runGit(
    root,
    'log',
    '--reverse',
    '--no-renames',
    '--name-only',
    '--format=%x00%h %s',
    '--',
    '*.sql',
  );
  const added = new Set<string>();
  return stdout.split('\0').flatMap((commit) => {
    const [subject, ...files] = commit.split('\n').filter((line) => line !== '');
    const edited = files.filter((file) => added.has(file) && existsSync(join(root, file.split('/').at(-1)!)));
    for (const file of files) added.add(file);
    return edited.map((file) => ({ file: file.split('/').at(-1)!, subject }));
  });
}

const isWholeClone = runGit(folder, 'rev-parse', '--is-shallow-repository').stdout.trim() === 'false';

test.skipIf(!isWholeClone)('no commit changes a migration that an earlier one added', () => {
  expect(findLaterEdits(folder)).toEqual([]);
});

test('the check of the history finds an edit, also where the recorded sum is changed with it', () => {
  const root = mkdtempSync(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const commit = (subject: string, files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@b.example', '-c', 'commit.gpgsign=false'];
    execFileSync('git', ['add', '.'], { cwd: root });
    execFileSync('git', [...author, 'commit', '--quiet', '--message', subject], { cwd: root });
  };
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  commit('Add one', { '0000_a.sql': 'select 1' });
  commit('Add another', { '0001_b.sql': 'select 2', 'sums.sha256': 'one' });
  expect(findLaterEdits(root)).toEqual([]);
  commit('Edit', { '0000_a.sql': 'select 3', 'sums.sha256': 'two' });
  expect(findLaterEdits(root)).toEqual([{ file: '0000_a.sql', subject: expect.stringMatching(/ Edit$/) as string }]);
});

const toApplied = (migrations: ReturnType<typeof readMigrations>) =>
  migrations.map(({ hash, folderMillis: createdAt }) => ({ hash, createdAt }));

test('applied migrations are compared by their place, moment and contents', () => {
  const own = toApplied(readMigrations());
  const describe = (applied: typeof own) => describeMigrationDifferences(compareMigrations(applied));
  expect([describe(own), describe(own.slice(0, -2)), describe([])]).toEqual([[], [], []]);
  const changed = own.with(1, { ...own[1]!, hash: 'f'.repeat(64) });
  expect(compareMigrations(changed)).toEqual({ changed: ['0001_functions-and-triggers'], newer: 0 });
  expect(describe(changed)).toEqual([
    'The migration 0001_functions-and-triggers was applied with other contents than this version has',
  ]);
  const newer = { hash: 'e'.repeat(64), createdAt: 9_999_999_999_999 };
  expect(compareMigrations([...own, newer])).toEqual({ changed: [], newer: 1 });
  expect(compareMigrations([...own.slice(0, 2), newer])).toEqual({
    ...{ changed: [], newer: 0 },
    ...{ replaced: '0002_storage-and-reference-rows', isMissing: true },
  });
  expect(describe(own.toSpliced(2, 1))).toEqual([
    'The migration 0002_storage-and-reference-rows is missing: another one was applied in its place',
  ]);
  expect(describe(own.toSpliced(2, 0, newer))).toEqual([
    'Another migration was applied in the place of 0002_storage-and-reference-rows',
  ]);
});
