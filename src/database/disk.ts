import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Pool } from 'pg';
import { getErrorCode } from '../core/database-errors.ts';

/** Bytes; `free` is what a user without special rights may write. */
export type DiskSpace = { free: number; size: number };

/** The space of a folder's file system; that of the nearest existing parent before the folder is made. */
export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const path = resolve(folder);
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return readDiskSpace(dirname(path));
  }
}

/** A server at the address of its client is on the same machine; `null` is a socket. */
const selectFolder = {
  name: 'database_folder',
  text: `select coalesce(inet_server_addr() = inet_client_addr(), true) as "isHere",
      coalesce(nullif(pg_tablespace_location(dattablespace), ''), current_setting('data_directory')) as folder
    from pg_database where datname = current_database()`,
};

/** The space of the database's disk; undefined on another machine, or where the role may not read the file path. */
export async function findDatabaseDiskSpace(pool: Pick<Pool, 'query'>): Promise<DiskSpace | undefined> {
  try {
    const { rows } = await pool.query<{ isHere: boolean; folder: string }>(selectFolder);
    const { isHere, folder } = rows[0]!;
    return isHere ? await readDiskSpace(folder) : undefined;
  } catch (error) {
    if (['42501', 'EACCES', 'ENOTDIR'].includes(getErrorCode(error))) return undefined;
    throw error;
  }
}
