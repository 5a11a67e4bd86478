import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { getErrorCode, sleep } from './files.ts';
import type { DataFolder } from './data-folder.ts';

/** Port and encryption are explicit, since PGPORT and PGSSLMODE would override the defaults. */
export const toConnection = ({ socket }: DataFolder) => ({
  host: socket,
  port: 5432,
  user: 'booking',
  database: 'booking',
  ssl: false,
});

type Connection = ReturnType<typeof toConnection>;

async function tryStatement(connection: Connection, statement: string) {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
    return '';
  } catch (error) {
    return getErrorCode(error) || String(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A start that changes no file for this long is given up; a first one on a busy machine may take minutes. */
const stalledMs = 60_000;

const isData = (name: string) => name.startsWith('data') || name === 'postgres.log';

/** Differs while the server, or `initdb` in a new folder, writes: number and size of the files, and size of the log. */
function measureProgress({ home }: DataFolder) {
  try {
    let bytes = 0;
    const names = fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(isData);
    for (const name of names) bytes += fs.statSync(path.join(home, name), { throwIfNoEntry: false })?.size ?? 0;
    return `${names.length} ${bytes}`;
  } catch {
    // The folder is not there yet, or belongs to another user.
    return '';
  }
}

/** Waits until the server accepts queries, and creates our database; false once `isStarting` returns false. */
export async function waitUntilReady(place: DataFolder, isStarting: () => boolean) {
  const connection = toConnection(place);
  let end = performance.now() + stalledMs;
  let progress = '';
  let nextLook = 0;
  for (;;) {
    const code = await tryStatement(connection, 'select 1');
    if (code === '') return true;
    if (code === '3D000')
      await tryStatement({ ...connection, database: 'postgres' }, 'create database booking template template0');
    if (performance.now() > nextLook) {
      const now = measureProgress(place);
      // Starting up: crash recovery has no time limit.
      if (code === '57P03' || now !== progress) end = performance.now() + stalledMs;
      progress = now;
      nextLook = performance.now() + 1_000;
    }
    if (!isStarting()) return false;
    if (performance.now() > end) throw new Error(describeStartFailure(place));
    await sleep(10);
  }
}

/** Responses to early connections, not causes of a failed start. */
const expectedErrors = /starting up|shutting down|"booking" does not exist/;

/** One sentence on a failed start, with the last error of the server's log. */
export function describeStartFailure({ home, log }: DataFolder) {
  let cause = '';
  try {
    const last = fs.readFileSync(log, 'utf8').split('--- start').at(-1)!;
    const causes = last
      .split('\n')
      .filter((line) => /FATAL|PANIC|error:|^initdb:/.test(line) && !expectedErrors.test(line));
    cause = causes.at(-1) ?? '';
  } catch {
    // No log, no cause.
  }
  const { bavail, bsize } = fs.statfsSync(home);
  const full = bavail * bsize < 64 * 2 ** 20 ? 'its disk is nearly full. ' : '';
  return `The database in ${home} does not start: ${full}${cause.trim() || 'the server gives no reason'} (see ${log})`;
}
