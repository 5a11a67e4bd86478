import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const dailyKept = 14;
export const weeklyKept = 8;

export type BackupKind = 'nightly' | 'manual';

/** Such as `booking-nightly-2026-11-03T02-15-00Z.zip`: names sort by time, and have no sign that a file system refuses. */
export const backupName = (at: Date, kind: BackupKind) =>
  `booking-${kind}-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.zip`;

const pattern = /^booking-(nightly|manual)-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z\.zip$/;

/** The moment in the name of a backup; undefined for other files. */
export function parseBackupName(name: string): { kind: BackupKind; at: Date } | undefined {
  const [, kind, day, ...time] = pattern.exec(name) ?? [];
  const at = new Date(`${day}T${time.join(':')}Z`);
  return kind === undefined || Number.isNaN(at.getTime()) ? undefined : { kind: kind as BackupKind, at };
}

/** The backups of a folder, the newest first; none without the folder. */
export async function listBackupNames(folder: string) {
  const names = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const time = (name: string) => parseBackupName(name)!.at.getTime();
  return names.filter((name) => parseBackupName(name)).sort((a, b) => time(b) - time(a));
}

/**
 * The nightly backups that are not kept: kept are the newest of each of the last 14 days that have one, and the newest
 * of each of the last 8 weeks that have one. Days and weeks are those of the time zone; a week begins on Monday.
 */
export function selectObsolete(names: string[], timezone: string) {
  const dayOf = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' });
  const nightly = names
    .flatMap((name) => {
      const parsed = parseBackupName(name);
      return parsed?.kind === 'nightly' ? [{ name, at: parsed.at.getTime(), day: dayOf.format(parsed.at) }] : [];
    })
    .sort((a, b) => b.at - a.at);
  const newestOf = (period: (day: string) => string, count: number) => {
    const newest = new Map<string, string>();
    for (const { name, day } of nightly) if (!newest.has(period(day))) newest.set(period(day), name);
    return [...newest.values()].slice(0, count);
  };
  const kept = new Set([...newestOf((day) => day, dailyKept), ...newestOf(mondayOf, weeklyKept)]);
  return nightly.map(({ name }) => name).filter((name) => !kept.has(name));
}

function mondayOf(day: string) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

const dayMs = 86_400_000;

/** Deletes obsolete nightly backups, and unfinished files that no process can still be writing. Returns their names. */
export async function pruneBackups(folder: string, timezone: string) {
  const obsolete = selectObsolete(await listBackupNames(folder), timezone);
  for (const name of obsolete) await rm(join(folder, name), { force: true });
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.part') || !parseBackupName(name.slice(0, -'.part'.length))) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > dayMs) await rm(join(folder, name), { force: true });
  }
  return obsolete;
}
