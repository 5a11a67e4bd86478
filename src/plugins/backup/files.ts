import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../core/database-errors.ts';

const dailyKept = 14;
const weeklyKept = 8;

type BackupKind = 'nightly' | 'manual';

/** Names a backup, as `booking-nightly-1f3a90c2-2026-11-03T02-15-00Z.zip`; the names of a database sort by time. */
export const backupName = (at: Date, kind: BackupKind, database: string) =>
  `booking-${kind}-${database}-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.zip`;

const pattern = /^booking-(nightly|manual)-([0-9a-f]{8})-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z\.zip$/;

/** The parts of the name of a backup; undefined for other files. */
export function parseBackupName(name: string): { kind: BackupKind; database: string; at: Date } | undefined {
  const [, kind, database, day, ...time] = pattern.exec(name) ?? [];
  const at = new Date(`${day}T${time.join(':')}Z`);
  const isKind = kind === 'nightly' || kind === 'manual';
  return isKind && database !== undefined && !Number.isNaN(at.getTime()) ? { kind, database, at } : undefined;
}

/** The backups of a folder, the newest first; none without the folder. */
async function listBackupNames(folder: string) {
  const time = (name: string) => parseBackupName(name)!.at.getTime();
  return (await readNames(folder)).filter((name) => parseBackupName(name)).sort((a, b) => time(b) - time(a));
}

async function readNames(folder: string) {
  return readdir(folder).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

/**
 * The nightly backups that are not kept: kept are the newest of each of the last 14 days that have one, and the newest
 * of each of the last 8 weeks that have one. Days and weeks are those of the time zone; a week begins on Monday.
 */
export function selectObsolete(names: string[], database: string, timezone: string) {
  const dayFormat = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' });
  const nightly = names
    .flatMap((name) => {
      const parsed = parseBackupName(name);
      if (parsed?.kind !== 'nightly' || parsed.database !== database) return [];
      return [{ name, at: parsed.at.getTime(), day: dayFormat.format(parsed.at) }];
    })
    .sort((a, b) => b.at - a.at);
  const listNewest = (period: (day: string) => string, count: number) => {
    const newest = new Map<string, string>();
    for (const { name, day } of nightly) if (!newest.has(period(day))) newest.set(period(day), name);
    return [...newest.values()].slice(0, count);
  };
  const kept = new Set([...listNewest((day) => day, dailyKept), ...listNewest(toMonday, weeklyKept)]);
  return nightly.map(({ name }) => name).filter((name) => !kept.has(name));
}

function toMonday(day: string) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

/** Deletes obsolete nightly backups of a database. Returns their names. */
export async function pruneBackups(folder: string, database: string, timezone: string) {
  const obsolete = selectObsolete(await listBackupNames(folder), database, timezone);
  for (const name of obsolete) await rm(join(folder, name), { force: true });
  return obsolete;
}

const dayMs = 86_400_000;
const partEnding = /\.[0-9a-f]{8}\.part$/;

/** Deletes unfinished backups: nightly ones of the caller, and manual ones that nothing has written to for a day. */
export async function deleteUnfinished(folder: string, database: string) {
  for (const name of await readNames(folder)) {
    const parsed = partEnding.test(name) ? parseBackupName(name.replace(partEnding, '')) : undefined;
    if (parsed?.database !== database) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (parsed.kind === 'nightly' || (found && Date.now() - found.mtimeMs > dayMs))
      await rm(join(folder, name), { force: true });
  }
}

const damagedEnding = '.damaged';
export const damagedName = (name: string) => `${name}${damagedEnding}`;

/** Deletes the nightly backups of a database that were damaged. */
export async function deleteDamaged(folder: string, database: string) {
  for (const name of await readNames(folder)) {
    const parsed = name.endsWith(damagedEnding) ? parseBackupName(name.slice(0, -damagedEnding.length)) : undefined;
    if (parsed?.kind === 'nightly' && parsed.database === database) await rm(join(folder, name), { force: true });
  }
}
