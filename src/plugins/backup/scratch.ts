import { Client, type ClientConfig } from 'pg';
import { readDiskSpace } from '../../database/disk.ts';
import { isPooled } from '../../database/pooler.ts';
import { readDatabaseId } from './catalog.ts';
import { withDatabase } from './connection.ts';
import { quote } from './format.ts';
import { restoreAndCount } from './restore.ts';

/** `notDropped`: why the database of the test remained. */
export type ScratchResult = { skipped: string } | (({ differences: number } | { cause: unknown }) & NotDropped);
type NotDropped = { notDropped?: unknown };

type ScratchOptions = {
  timezone: string;
  isEmbedded: boolean;
  signal?: AbortSignal | undefined;
};

/** Restores a backup into a new database on the same server, recounts as `doctor` does, and drops the database. */
export async function restoreIntoScratch(
  connection: ClientConfig,
  file: string,
  { timezone, isEmbedded, signal }: ScratchOptions,
): Promise<ScratchResult> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Other clients share a pooler's session, and would get the setting below.
    if (await isPooled(client)) return { skipped: 'DATABASE_URL names a pooler, not PostgreSQL itself' };
    await client.query('set statement_timeout = 0');
    const { rows } = await client.query<{ name: string; may: boolean }>(
      `select left(current_database(), 42) || '_backup_test_' || $1 as name, rolcreatedb or rolsuper as may
        from pg_roles where rolname = current_user`,
      [await readDatabaseId(client)],
    );
    const { name, may } = rows[0]!;
    if (!may) return { skipped: 'the role of DATABASE_URL may not create databases' };
    if (isEmbedded && !(await hasSpace(client))) return { skipped: 'the disk has too little free space' };
    // No other database has this name: one that exists is of an interrupted test.
    const drop = `drop database if exists ${quote(name)} with (force)`;
    await client.query(drop);
    await client.query(`create database ${quote(name)} template template0 encoding 'UTF8'`);
    const result = await restoreAndCount(file, withDatabase(connection, name), { timezone, signal }).then(
      ({ differences }) => ({ differences }),
      (cause: unknown) => ({ cause }),
    );
    const dropped: NotDropped = await client.query(drop).then(
      () => ({}),
      (notDropped: unknown) => ({ notDropped }),
    );
    return { ...result, ...dropped };
  } finally {
    await client.end();
  }
}

/** The restored database is as large as this one, and has a write-ahead log. */
const neededSpace = 1.5;

async function hasSpace(client: Client) {
  const { rows } = await client.query<{ folder: string; bytes: number }>(
    `select current_setting('data_directory') as folder, pg_database_size(current_database())::float8 as bytes`,
  );
  const { folder, bytes } = rows[0]!;
  return (await readDiskSpace(folder)).free >= neededSpace * bytes;
}
