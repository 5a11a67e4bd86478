import { Client, type ClientConfig } from 'pg';
import { openDatabase } from '../database/client.ts';
import { checkCounters } from '../doctor/examine.ts';
import { quote } from './format.ts';
import { withDatabase } from './connection.ts';
import { restoreBackup } from './restore.ts';

/** Comment of the database, so that no other one is ever dropped. */
const mark = 'course-booking-service: test of a backup, may be dropped';

type Skipped = { skipped: string };
export type ScratchResult = Skipped | { differences: number };

/** Restores a backup into a new database on the same server, recounts as `doctor` does, and drops the database. */
export async function restoreIntoScratch(
  connection: ClientConfig,
  file: string,
  timezone: string,
  signal?: AbortSignal,
): Promise<ScratchResult> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('set statement_timeout = 0');
    const { rows } = await client.query<{ name: string; may: boolean }>(
      `select left(current_database(), 51) || '_backup_test' as name, rolcreatedb or rolsuper as may
        from pg_roles where rolname = current_user`,
    );
    const { name, may } = rows[0]!;
    if (!may) return { skipped: 'the role of DATABASE_URL may not create databases' };
    const scratch = withDatabase(connection, name);
    if (!(await createScratch(client, name))) return { skipped: `a database ${name} exists that is not a test` };
    try {
      await restoreBackup(file, scratch, signal);
      return { differences: await countDifferences(scratch, timezone) };
    } finally {
      await client.query(`drop database ${quote(name)} with (force)`).catch(() => undefined);
    }
  } finally {
    await client.end();
  }
}

/** Replaces a database that an interrupted test has left; false if there is another one of this name. */
async function createScratch(client: Client, name: string) {
  const { rows } = await client.query<{ comment: string | null }>(
    `select shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1`,
    [name],
  );
  if (rows[0] && rows[0].comment !== mark) return false;
  if (rows[0]) await client.query(`drop database ${quote(name)} with (force)`);
  await client.query(`create database ${quote(name)} template template0 encoding 'UTF8'`);
  await client.query(`comment on database ${quote(name)} is '${mark}'`);
  return true;
}

async function countDifferences(connection: ClientConfig, timezone: string) {
  const times = { acquireMs: 10_000, statementMs: 600_000, writeMs: 10_000 };
  const database = openDatabase({ connection, timezone, poolSize: 1, ...times });
  try {
    return (await checkCounters(database, {})).differences.length;
  } finally {
    await database.close();
  }
}
