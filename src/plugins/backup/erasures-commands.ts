import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { toSettings } from '../../core/config.ts';
import { Problem } from '../../core/errors.ts';
import { command, run, type Options } from '../../interfaces/cli/run.ts';
import { eraseAgain } from '../../domains/records/erasures/service.ts';
import { deleteSchool, findDeletedSchools } from '../../domains/records/school-deletion/service.ts';
import { erasuresName, readErasures, readLines, type Erasure } from './erasures.ts';
import { readBackupManifest } from './read.ts';
import { backupSettings } from './settings.ts';

export type ErasuresOptions = Options & { erasures?: string; withoutErasures?: boolean };
export function erasuresCommands(program: Command) {
  const erasures = program.command('erasures').description('Persons and providers that were erased');
  command(
    erasures,
    'list',
    'Print the list of a database: the ids of the persons and providers that were erased',
  ).action((options: Options) =>
    run(
      options,
      async ({ database }) => {
        const lines = await readLines(database);
        return { json: lines.map((line) => JSON.parse(line) as Erasure), text: lines.join('\n') };
      },
      { allowUnmigrated: true },
    ),
  );
  command(
    erasures,
    'apply',
    'Erase the persons and providers of a list again, after a recovery by other means than `restore`',
  )
    .argument('[file]', `the list; ${erasuresName} in BACKUP_DIR by default`)
    .action((file: string | undefined, options: Options) =>
      run(
        options,
        async ({ config, database }) => {
          const path = file ?? join(config.of(backupSettings).BACKUP_DIR, erasuresName);
          const list = await readErasures(path, warn);
          if (list === undefined) throw new Problem('invalid', `${path} does not exist`);
          const persons = await eraseAgain(database.unlocked, database, list, toSettings(config));
          const schools = await findDeletedSchools(database.unlocked, list);
          for (const { id, keepOrders } of schools) await deleteSchool(database, id, { keepOrders });
          const erased = persons + schools.length;
          return { json: { erased }, text: `Erased again: ${erased}` };
        },
        { statementMs: 600_000, writeMs: 60_000 },
      ),
    );
}

export const erasuresOption = [
  '--erasures <file>',
  `the list of erasures; ${erasuresName} beside the backup by default`,
] as const;

const warn = (text: string) => console.error(`warning: ${text}`);

/** The list of erasures of a backup; undefined if none is beside it. */
export async function findErasures(backup: string, { erasures }: ErasuresOptions) {
  const list = await readErasures(erasures ?? join(dirname(backup), erasuresName), warn);
  if (list === undefined && erasures !== undefined) throw new Problem('invalid', `${erasures} does not exist`);
  return list;
}
const noList = (backup: string) => `There is no ${erasuresName} beside ${backup}`;
export const noErasures = (backup: string) => `${noList(backup)}: nobody is erased again`;

/** Requires the list for a restore: without it erased persons would come back unnoticed. */
export async function requireErasures(backup: string, options: ErasuresOptions) {
  if (options.withoutErasures) return undefined;
  const list = await findErasures(backup, options);
  if (list !== undefined) return list;
  await readBackupManifest(backup);
  throw new Problem(
    'invalid',
    `${noList(backup)}: name it by --erasures, or one that \`erasures list\` has printed; --without-erasures erases nobody again`,
  );
}
