import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readDatabaseId } from './catalog.ts';
import { withDatabase } from './connection.ts';
import { countErasedSince, createErasuresWriter } from './erasures.ts';
import {
  erasuresOption,
  findErasures,
  noErasures,
  requireErasures,
  type ErasuresOptions,
} from './erasures-commands.ts';
import { backupName } from './files.ts';
import { countRows, type Manifest } from './format.ts';
import { findObstacle } from './manifest.ts';
import { verifyBackup } from './read.ts';
import { assertRestorable, restoreAndCount, type Counted, type RestoreOptions } from './restore.ts';
import { recordResult, recordStart } from './runs.ts';
import { writeBackup } from './write.ts';
import { toSettings, type Config } from '../../core/config.ts';
import { Problem } from '../../core/errors.ts';
import { isMigrated } from '../../database/migrate.ts';
import { readAppliedMigrations } from '../../database/migration-history.ts';
import { backupJobs } from './nightly.ts';
import { backupSettings } from './settings.ts';
import { openLog } from '../../core/log.ts';
import { startJobs } from '../../database/periodic.ts';
import { packageVersion } from '../../core/project.ts';
import {
  raiseOomScore,
  command,
  conclude,
  readEnvironment,
  run,
  type CommandContext,
  type CommandResult,
  type Options,
} from '../../interfaces/cli/run.ts';

export function backupCommands(program: Command) {
  const backup: Command = command(program, 'backup', 'Write all data to a file, while the server may run')
    .option('--to <dir>', 'folder of the file; BACKUP_DIR by default')
    .addOption(new Option('--nightly', 'make one each night at BACKUP_AT, until a signal').conflicts('to'))
    .action((options: Options & { to?: string; nightly?: boolean }) =>
      run(options, (context) => (options.nightly ? makeNightly(context) : makeBackup(context, options.to)), {
        allowUnmigrated: !options.nightly,
      }),
    );
  backup.enablePositionalOptions();

  command(backup, 'verify', 'Read a whole backup and compare it with its checksums')
    .argument('<file>', 'the backup')
    .option(...erasuresOption)
    .action(async (file: string, options: ErasuresOptions) => {
      const manifest = await verifyBackup(file);
      const list = await findErasures(file, options);
      const since = countErasedSince(list ?? [], manifest.createdAt);
      const text = [
        `${file} is whole: ${summarize(manifest)}`,
        list === undefined ? noErasures(file) : `Erased since, and erased again by a restore: ${since}`,
      ].join('\n');
      const obstacle = findObstacle(manifest);
      const failure = obstacle && `this version does not restore it: ${obstacle}`;
      const json = { file, ...toJson(manifest), erased_since: list === undefined ? null : since };
      conclude(options.json, { json, text, ...(failure && { failure }) });
    });

  const restoring: Command = command(program, 'restore', 'Restore a backup into an empty database')
    .argument('<file>', 'the backup')
    .option('--into <url>', 'postgres://… of an empty database, or `embedded` for a new one in DATA_DIR', target)
    .option('--database <name>', 'instead: an empty database on the server of DATABASE_URL, for its role')
    .option('--accept-migrations', 'accept migrations that were applied with other contents than this version has')
    .option(...erasuresOption)
    .addOption(new Option('--without-erasures', 'erase nobody again, also without a list').conflicts('erasures'))
    .action(async (file: string, options: RestoreCommandOptions) => {
      const into =
        options.into ?? (options.database === undefined ? undefined : onSameServer(options.database, options));
      if (into === undefined || (options.into && options.database))
        restoring.error('error: restore needs either --into or --database', { code: 'commander.conflictingOption' });
      conclude(options.json, await restore(file, into, options));
    });
}

type RestoreCommandOptions = ErasuresOptions & { into?: string; database?: string; acceptMigrations?: boolean };

/** So that no password is an argument, which other users of the machine can read. */
function onSameServer(name: string, options: Options) {
  const { DATABASE_URL: connectionString } = readEnvironment(options);
  if (connectionString === undefined) throw new Problem('invalid', '--database needs a DATABASE_URL');
  return withDatabase({ connectionString }, name).connectionString!;
}

const target = (text: string) => {
  if (text !== 'embedded' && !/^postgres(ql)?:\/\//.test(text))
    throw new InvalidArgumentError('It must begin with postgres:// or be `embedded`.');
  return text;
};

async function makeBackup({ config, database, connection }: CommandContext, to?: string): Promise<CommandResult> {
  // An older version's database stays as it is, so that the backup can be made before an upgrade.
  const applied = await readAppliedMigrations(database.pool);
  if (applied.length === 0) throw new Problem('invalid', 'The database is not migrated yet: run `migrate`');
  const now = new Date();
  const { BACKUP_DIR } = config.of(backupSettings);
  const folder = resolve(to ?? BACKUP_DIR);
  const file = join(folder, backupName(now, 'manual', await readDatabaseId(database.pool)));
  const began = performance.now();
  const manifest = await writeBackup(connection, file, { serviceVersion: packageVersion() });
  const { behind } = await verifyBackup(file);
  const { size: bytes } = await stat(file);
  const obstacle = findObstacle({ ...manifest, behind });
  const migrated = await isMigrated(database.pool);
  await createErasuresWriter(database, folder, { createsEmpty: true })();
  // A copy elsewhere, such as in a folder for temporary files, is no backup to rely on.
  if (folder === resolve(BACKUP_DIR) && migrated) {
    const elapsedMs = Math.round(performance.now() - began);
    const id = await recordStart(database.pool, false, now.toISOString());
    await recordResult(database.pool, id, { elapsedMs, file, bytes, error: null, restoreTest: null });
  }
  return {
    json: { file, bytes, ...toJson(manifest), ...(obstacle && { warning: obstacle }) },
    text: [
      `Wrote and verified ${file}: ${summarize(manifest)}, ${toSize(bytes)}`,
      ...(obstacle ? [`Warning: this version does not restore it: ${obstacle}`] : []),
    ].join('\n'),
  };
}

/** Makes backups in a container beside servers that make none. */
async function makeNightly({ config, connection, database }: CommandContext): Promise<CommandResult> {
  const { nightlyAt, BACKUP_DIR } = config.of(backupSettings);
  if (nightlyAt === undefined) throw new Problem('invalid', '--nightly needs a time of day in BACKUP_AT');
  const log = openLog(config);
  const stop = startJobs(backupJobs({ config, connection, database, log }), log);
  const stopped = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => done());
  });
  log.info(`A backup is made each night at ${nightlyAt}, in ${BACKUP_DIR}`);
  await stopped;
  stop();
  return { json: {}, text: '' };
}

async function restore(file: string, into: string, options: RestoreCommandOptions): Promise<CommandResult> {
  // The target is given as an option, so a configuration for a server is not needed.
  const isEmbedded = into === 'embedded';
  const { acceptMigrations } = options;
  const config = readEnvironment(options, {
    ...{ DATABASE_URL: into, DATABASE_URL_FILE: '' },
  });
  raiseOomScore(config);
  const list = await requireErasures(file, options);
  const wanted = { acceptMigrations, erasing: list && { list, retention: toSettings(config) } };
  const result = isEmbedded
    ? await restoreEmbedded(file, config, wanted)
    : await restoreAndCount(file, { connectionString: into }, { timezone: config.TIMEZONE, ...wanted });
  const { manifest, differences, unknownTables, migrated, erased } = result;
  const lines = [
    `Restored ${summarize(manifest)}`,
    ...(migrated > 0 ? [`Applied ${migrated} newer migrations`] : []),
    ...(unknownTables.length > 0
      ? [`Not restored, since they are no tables of the service: ${unknownTables.join(', ')}`]
      : []),
    list === undefined ? 'Nobody is erased again' : `Erased again: ${erased}`,
    ...(differences === 0 ? ['doctor finds no difference'] : []),
  ];
  const json = { ...toJson(manifest), migrated, erased, unknown_tables: unknownTables, differences };
  const failure = `the rows are restored as they were, but ${describeDifferences(differences)}; correct with \`doctor --fix\``;
  return { json, text: lines.join('\n'), ...(differences > 0 && { failure }) };
}

const describeDifferences = (count: number) =>
  count === 1 ? '1 stored counter differs from the recount' : `${count} stored counters differ from the recount`;

/** Restores into the embedded database of DATA_DIR, which is created if it does not exist. */
async function restoreEmbedded(
  file: string,
  { DATA_DIR, TIMEZONE: timezone }: Config,
  options: RestoreOptions,
): Promise<Counted> {
  const { openEmbeddedDatabase } = await import('../../embedded-postgres/index.ts');
  assertRestorable(await verifyBackup(file), options);
  const embedded = await openEmbeddedDatabase({ dataDir: DATA_DIR });
  try {
    return await restoreAndCount(file, embedded.connection, { timezone, ...options });
  } finally {
    await embedded.stop();
  }
}

const summarize = (manifest: Manifest) =>
  `${countRows(manifest).toLocaleString('en')} rows of ${manifest.tables.length} tables, of ${manifest.createdAt}`;

const toJson = (manifest: Manifest) => ({
  ...{ created_at: manifest.createdAt, rows: countRows(manifest), version: manifest.serviceVersion },
  ...{ postgresql: manifest.serverVersion, migrations: manifest.migrations.length },
  tables: Object.fromEntries(manifest.tables.map(({ name, rows, sha256 }) => [name, { rows, sha256 }])),
});

const toSize = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`;
