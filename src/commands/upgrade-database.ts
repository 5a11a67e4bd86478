import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { listBackupNames } from '../backup/files.ts';
import { countRows } from '../backup/format.ts';
import { verifyBackup } from '../backup/read.ts';
import type { Config } from '../config.ts';
import { Problem } from '../core/errors.ts';
import { restoreEmbedded } from './backup.ts';
import { command, print, readEnvironment, type CommandResult, type Options } from './connect.ts';

export function upgradeDatabaseCommand(program: Command) {
  command(program, 'upgrade-database', 'Restore a backup of an embedded database of an older PostgreSQL into a new one')
    .option('--from <file>', 'the backup; by default the newest in BACKUP_DIR, if nothing can have changed since')
    .action(async (options: Options & { from?: string }) =>
      print(options.json, await upgradeDatabase(readEnvironment(), options.from)),
    );
}

/** A backup that is made last, and the stop of the database after it, take less. */
const toleranceMs = 15 * 60_000;

async function upgradeDatabase(config: Config, from?: string): Promise<CommandResult> {
  const { DATABASE_URL, DATA_DIR, BACKUP_DIR } = config;
  if (DATABASE_URL !== undefined)
    throw new Problem(
      'invalid',
      'This is for the embedded database: upgrade the server of DATABASE_URL by its own means',
    );
  const { findOtherMajor, isMade, replaceData } = await import('../embedded-postgres/index.ts');
  const other = isMade(DATA_DIR) ? await findOtherMajor(DATA_DIR) : undefined;
  if (!other) return { json: { upgraded: false }, text: 'There is no database of another PostgreSQL version' };
  if (other.isRunning) throw new Problem('invalid', 'The database is in use: stop the server first');

  const [newest] = await listBackupNames(BACKUP_DIR);
  const file = from ?? (newest && join(BACKUP_DIR, newest));
  if (file === undefined)
    throw new Problem('invalid', `There is no backup in ${BACKUP_DIR}: ${howToBackUp(other.old)}`);
  const manifest = await verifyBackup(file);
  const missingMs = other.lastStoppedAt.getTime() - Date.parse(manifest.createdAt);
  if (from === undefined && missingMs > toleranceMs)
    throw new Problem(
      'invalid',
      `The newest backup ${file} is of ${manifest.createdAt}, and the database was in use until ${other.lastStoppedAt.toISOString()}: ${howToBackUp(other.old)}; or accept the loss of later changes by --from ${file}`,
    );

  // Complete before it takes the place of the old one, so that an interruption leaves the old one.
  const temporary = join(DATA_DIR, 'upgrade');
  await rm(temporary, { recursive: true, force: true });
  const { differences } = await restoreEmbedded(file, { ...config, DATA_DIR: temporary });
  const folder = await replaceData(other, temporary);
  await rm(temporary, { recursive: true, force: true });
  const text = [
    `Restored ${countRows(manifest).toLocaleString('en')} rows of ${manifest.createdAt} into a database of PostgreSQL ${other.new}`,
    differences === 0 ? 'doctor finds no difference' : `doctor finds ${differences} differences: run it to see them`,
    `The old database is in ${folder}: delete it once you need it no longer`,
  ].join('\n');
  return { json: { upgraded: true, backup: file, old_database: folder, differences }, text };
}

const howToBackUp = (major: string) =>
  `make one by the command \`backup\` of the version of this service that came with PostgreSQL ${major}`;
