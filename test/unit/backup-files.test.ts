import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backupName, parseBackupName, pruneBackups, selectObsolete } from '../../src/plugins/backup/files.ts';

const dayMs = 86_400_000;
const timezone = 'Europe/Oslo';
const database = '1f3a90c2';
const nightly = (at: number | string, of = database) => backupName(new Date(at), 'nightly', of);
const days = (names: string[]) => names.map((name) => parseBackupName(name)!.at.toISOString().slice(0, 10));

/** The names left after so many nights, each at 03:15 or as `at` says. */
function afterNights(count: number, first: string, at: (moment: number) => number = (moment) => moment) {
  let names: string[] = [];
  for (let night = 0; night < count; night += 1) {
    names.push(nightly(at(Date.parse(first) + night * dayMs)));
    const obsolete = new Set(selectObsolete(names, database, timezone));
    names = names.filter((name) => !obsolete.has(name));
  }
  return names;
}

test('names sort by time and are read back; other files are not taken for backups', () => {
  const name = nightly('2026-11-03T02:15:00.9Z');
  expect(name).toBe('booking-nightly-1f3a90c2-2026-11-03T02-15-00Z.zip');
  expect(parseBackupName(name)).toEqual({ kind: 'nightly', database, at: new Date('2026-11-03T02:15:00Z') });
  for (const other of [`${name}.part`, `${name}.damaged`, 'x.zip', name.replace('-11-', '-13-')])
    expect(parseBackupName(other)).toBeUndefined();
});

test('of 60 nights the last 14 are kept, and the last of each of 8 weeks', () => {
  // The 60th night is Thursday, 2026-11-26.
  expect(days(afterNights(60, '2026-09-28T02:15:00Z'))).toEqual([
    // Sundays, the last nights of their weeks.
    ...['2026-10-11', '2026-10-18', '2026-10-25', '2026-11-01', '2026-11-08'],
    ...['2026-11-13', '2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19'],
    ...['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24', '2026-11-25', '2026-11-26'],
  ]);
});

test('days are those of the time zone, also around a change of the clocks', () => {
  // 01:30 in Oslo, which is 23:30 in UTC of the day before in summer, and 00:30 in winter.
  const summer = '2026-10-16T23:30:00Z';
  const local = (moment: number) => moment + (moment >= Date.parse('2026-10-25T12:00:00Z') ? 3_600_000 : 0);
  const kept = afterNights(20, summer, local).slice(-14);
  expect(kept).toHaveLength(14);
  expect(kept[0]).toBe(nightly('2026-10-22T23:30:00Z'));
  expect(kept.at(-1)).toBe(nightly('2026-11-05T00:30:00Z'));
});

test('after a long pause the old ones stay; a second one of a day replaces the first; manual ones always stay', () => {
  const old = afterNights(14, '2026-01-01T02:15:00Z');
  const [first, second] = ['2026-11-26T02:15:00Z', '2026-11-26T09:00:00Z'].map((at) => nightly(at)) as [string, string];
  const manual = backupName(new Date('2025-01-01T00:00:00Z'), 'manual', database);
  const obsolete = selectObsolete([manual, ...old, first, second], database, timezone);
  expect(obsolete).toContain(first);
  expect(obsolete).not.toContain(second);
  expect(obsolete).not.toContain(manual);
  expect(old.filter((name) => !obsolete.includes(name))).toHaveLength(13);
});

test('of 70 nights the files of 14 days and 8 weeks stay in the folder, and all of another database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backups-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const others: string[] = [];
  for (let night = 0; night < 70; night += 1) {
    const at = Date.parse('2026-09-18T02:15:00Z') + night * dayMs;
    others.push(nightly(at, 'ffffffff'));
    for (const name of [nightly(at), others.at(-1)!]) writeFileSync(join(folder, name), '');
    await pruneBackups(folder, database, timezone);
  }
  const left = readdirSync(folder).sort();
  expect(left.filter((name) => parseBackupName(name)!.database === database)).toEqual(
    afterNights(70, '2026-09-18T02:15:00Z'),
  );
  // Of the 8 weeks, two and a part of a third are within the 14 days.
  expect(left).toHaveLength(70 + 14 + 5);
  expect(left.filter((name) => others.includes(name))).toEqual(others);
});
