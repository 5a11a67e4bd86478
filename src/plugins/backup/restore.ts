import type { Client, ClientConfig, PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { itemAt, Problem } from '../../core/errors.ts';
import { createAuditLog } from '../../database/audit-log.ts';
import { openDatabase } from '../../database/client.ts';
import { applyMigrations, migrationLockKey } from '../../database/migrate.ts';
import { readMigrations } from '../../database/migration-history.ts';
import { recordReleases } from '../../database/releases.ts';
import { queryBuilderOn } from '../../database/reader.ts';
import { readTenantTables } from '../../database/tenant-tables.ts';
import { nestedUnitOfWork } from '../../database/unit-of-work.ts';
import { checkCounters } from '../../domains/records/counters/service.ts';
import type { Retention } from '../../domains/records/erasures/person-service.ts';
import { eraseAgain } from '../../domains/records/erasures/service.ts';
import { deleteSchool, findDeletedSchools } from '../../domains/records/school-deletion/service.ts';
import { columnList, isEmptyDatabase, readForeignKeys, readTables } from './catalog.ts';
import { inTransaction } from './connection.ts';
import type { Erasure } from './erasures.ts';
import { quote, type BackupSequence, type Manifest } from './format.ts';
import { describeEndedSequences, describeSequencesBehind, findObstacle } from './manifest.ts';
import { assertWhole, transferTable, withBackup, type OpenBackup } from './read.ts';

type Restored = { manifest: Manifest; unknownTables: string[]; migrated: number; erased: number };

export type RestoreOptions = {
  /** Restore the rows of migrations that this build has with other contents. */
  acceptMigrations?: boolean | undefined;
  /** The erasures to apply again within the transaction. */
  erasing?: { list: Erasure[]; retention: Retention } | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Restores a backup into an empty database, in one transaction: all of it or nothing. The tables are created by the
 * backup's migrations; newer ones are applied afterwards, to the data, and later erasures are carried out again.
 */
export async function restoreBackup(
  file: string,
  connection: ClientConfig,
  options: RestoreOptions = {},
): Promise<Restored> {
  await assertWhole(file);
  return withBackup(file, async (backup) => {
    const { manifest } = backup;
    assertRestorable(manifest, options);
    const count = manifest.migrations.length;
    const [own, newer] = [readMigrations().slice(0, count), readMigrations().slice(count)];
    const { unknownTables, erased } = await inTransaction(
      connection,
      '',
      async (client) => {
        await client.query('select pg_advisory_xact_lock($1)', [migrationLockKey]);
        await assertSuitable(client);
        await applyMigrations(client, own);
        const unknownTables = await fill(client, backup);
        await applyMigrations(client, newer);
        await recordReleases(client);
        return { unknownTables, erased: await eraseListed(client, options.erasing) };
      },
      options.signal,
    );
    return { manifest, unknownTables, migrated: newer.length, erased };
  });
}

/** Erases the persons and deletes the schools of the list that the backup still has. */
async function eraseListed(client: Client, erasing: RestoreOptions['erasing']) {
  if (!erasing) return 0;
  const on = client as unknown as PoolClient;
  const writes = nestedUnitOfWork(on, createAuditLog({ actor: 'operator', actorId: null, action: 'restore' }));
  const persons = await eraseAgain(queryBuilderOn(on), writes, erasing.list, erasing.retention);
  const schools = await findDeletedSchools(queryBuilderOn(on), erasing.list);
  if (schools.length === 0) return persons;

  const exclusively = <T>(_name: string, work: (client: PoolClient) => Promise<T>) => work(on);
  const database = { ...writes, pool: on, db: queryBuilderOn(on), exclusively };
  const options = { tables: await readTenantTables(on), batchSize: Infinity };
  // The check of each deleted row would read all rows that the transaction has deleted.
  await withoutForeignKeys(client, async () => {
    for (const { id, keepOrders } of schools) await deleteSchool(database, id, { keepOrders, ...options });
  });
  return persons + schools.length;
}

export type Counted = Restored & { differences: number };

/** Restores a backup, and counts the counters that differ from a recount. */
export async function restoreAndCount(
  file: string,
  connection: ClientConfig,
  { timezone, ...options }: RestoreOptions & { timezone: string },
): Promise<Counted> {
  const restored = await restoreBackup(file, connection, options);
  const times = { acquireMs: 10_000, statementMs: 600_000, writeMs: 10_000 };
  const database = openDatabase({ connection, timezone, poolSize: 1, ...times });
  try {
    return { ...restored, differences: (await checkCounters(database, {})).differences.length };
  } finally {
    await database.close();
  }
}

export function assertRestorable(manifest: Manifest, options: Pick<RestoreOptions, 'acceptMigrations'>) {
  const obstacle = findObstacle(manifest, options);
  if (obstacle !== undefined) throw new Problem('invalid', obstacle);
}

async function assertSuitable(client: Client) {
  if (!(await isEmptyDatabase(client)))
    throw new Problem('invalid', 'The target database is not empty: create a new one, and restore into that');
  const { rows } = await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`);
  if (itemAt(rows).encoding !== 'UTF8')
    throw new Problem('invalid', `The target database has the encoding ${itemAt(rows).encoding}: it must be UTF8`);
}

/** Loads all rows without triggers, since the backup contains their effects. Returns tables that are not the service's. */
async function fill(client: Client, backup: OpenBackup) {
  const { tables, sequences } = backup.manifest;
  const created = (await readTables(client)).map(({ name }) => name);
  const own = tables.filter(({ name }) => created.includes(name));
  // Some migrations insert rows.
  await client.query(`truncate ${columnList(created)}`);
  for (const name of created) await client.query(`alter table ${quote(name)} disable trigger user`);
  const behind: string[] = [];
  await withoutForeignKeys(client, async () => {
    for (const table of own) {
      const copy = client.query(copyFrom(`copy ${quote(table.name)} (${columnList(table.columns)}) from stdin`));
      behind.push(...(await transferTable(backup, table, copy)));
      if (copy.rowCount !== table.rows)
        throw new Problem('invalid', `Of ${table.rows} rows of the table ${table.name} ${copy.rowCount} were read`);
    }
    await client.query('analyze');
  });
  for (const name of created) await client.query(`alter table ${quote(name)} enable trigger user`);
  if (behind.length > 0) throw new Problem('invalid', describeSequencesBehind(behind));
  await setSequences(client, sequences);
  return tables.filter((table) => !own.includes(table)).map(({ name }) => name);
}

/** Drops all foreign keys for the time of `work`; their new ones check all rows. */
async function withoutForeignKeys(client: Client, work: () => Promise<void>) {
  const foreignKeys = await readForeignKeys(client);
  for (const { table, name } of foreignKeys) await client.query(`alter table ${table} drop constraint ${name}`);
  await work();
  for (const { table, name, definition } of foreignKeys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
}

async function setSequences(client: Client, sequences: BackupSequence[]) {
  await assertSequencesContinue(client, sequences);
  for (const { name, lastValue, isCalled } of sequences)
    await client.query(
      `select setval(c.oid, $2, $3) from pg_class c
        where c.relname = $1 and c.relnamespace = 'public'::regnamespace and c.relkind = 'S'`,
      [name, lastValue, isCalled],
    );
}

async function assertSequencesContinue(client: Client, sequences: BackupSequence[]) {
  const { rows } = await client.query<{ name: string }>(
    `select s.name from jsonb_to_recordset($1) s (name text, "lastValue" numeric)
      join pg_sequences p on p.schemaname = 'public' and p.sequencename = s.name
      where s."lastValue" >= p.max_value or s."lastValue" < p.min_value`,
    [JSON.stringify(sequences)],
  );
  if (rows.length > 0) throw new Problem('invalid', describeEndedSequences(rows.map(({ name }) => name)));
}
