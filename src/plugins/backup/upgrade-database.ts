import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { listBackupNames } from './files.ts';
import { countRows } from './format.ts';
import { verifyBackup } from './read.ts';
import { toSettings, type Config } from '../../core/config.ts';
import type { OtherMajor } from '../../embedded-postgres/index.ts';
import { Problem } from '../../core/errors.ts';
import { acceptMigrationsOption, describeDifferences, restoreEmbedded } from './commands.ts';
import { erasuresOption, requireErasures, withoutErasuresOption, type ErasuresOptions } from './erasures-commands.ts';
import { backupSettings } from './settings.ts';
import { command, print, readEnvironment, type CommandResult } from '../../interfaces/cli/run.ts';

export function upgradeDatabaseCommand(program: Command) {
  command(program, 'upgrade-database', 'Restore a backup of an embedded database of an older PostgreSQL into a new one')
    .option('--from <file>', 'the backup; without it the newest in BACKUP_DIR is named')
    .option(...acceptMigrationsOption)
    .option(...erasuresOption)
    .addOption(withoutErasuresOption())
    .action(async (options: UpgradeOptions) =>
      print(options.json, await upgradeDatabase(readEnvironment(options), options)),
    );
}

type UpgradeOptions = ErasuresOptions & { from?: string; acceptMigrations?: boolean };

async function upgradeDatabase(config: Config, options: UpgradeOptions): Promise<CommandResult> {
  const { from, acceptMigrations } = options;
  const { DATABASE_URL, DATA_DIR } = config;
  const { BACKUP_DIR } = config.of(backupSettings);
  if (DATABASE_URL !== undefined)
    throw new Problem(
      'invalid',
      'This is for the embedded database: upgrade the server of DATABASE_URL by its own means',
    );
  const { findOtherMajor, isInitialized, replaceData } = await import('../../embedded-postgres/index.ts');
  const other = isInitialized(DATA_DIR) ? await findOtherMajor(DATA_DIR) : undefined;
  if (!other) return { json: { upgraded: false }, text: 'There is no database of another PostgreSQL version' };
  if (other.isRunning) throw new Problem('invalid', 'The database is in use: stop the server first');

  if (from === undefined) throw new Problem('invalid', await describeChoice(BACKUP_DIR, other));
  const manifest = await verifyBackup(from);

  // Complete before it takes the place of the old one, so that an interruption leaves the old one.
  const temporary = join(DATA_DIR, 'upgrade');
  await rm(temporary, { recursive: true, force: true });
  const list = await requireErasures(from, options);
  const wanted = { acceptMigrations, erasing: list && { list, retention: toSettings(config) } };
  const { differences } = await restoreEmbedded(from, { ...config, DATA_DIR: temporary }, wanted);
  const folder = differences === 0 ? await replaceData(other, temporary) : undefined;
  await rm(temporary, { recursive: true, force: true });
  if (folder === undefined) throw new Problem('invalid', describeRefusal(from, differences, other));
  const text = [
    `Restored ${countRows(manifest).toLocaleString('en')} rows of ${manifest.createdAt} into a database of PostgreSQL ${other.new}`,
    'doctor finds no difference',
    `The old database is in ${folder}: delete it once you need it no longer`,
  ].join('\n');
  return { json: { upgraded: true, backup: from, old_database: folder, differences }, text };
}

const describeRefusal = (file: string, differences: number, { old }: OtherMajor) =>
  `The old database stays in place: in ${file} ${describeDifferences(differences)}. Run \`doctor --fix\` with the version of this service that came with PostgreSQL ${old}, make another backup, and use that`;

/** Later changes cannot be detected, so the operator has to choose the backup. */
async function describeChoice(folder: string, { old, lastStoppedAt }: OtherMajor) {
  const [newest] = await listBackupNames(folder);
  const makeOne = `make one by the command \`backup\` of the version of this service that came with PostgreSQL ${old}`;
  if (newest === undefined) return `There is no backup in ${folder}: ${makeOne}`;
  const file = join(folder, newest);
  const { createdAt } = await verifyBackup(file);
  const seconds = Math.max(0, Math.round((lastStoppedAt.getTime() - Date.parse(createdAt)) / 1_000));
  return `The newest backup is of ${createdAt}, and the database was stopped ${seconds} seconds later: changes between them are lost. Accept that by --from ${file}, or ${makeOne}`;
}
