import fs from 'node:fs';
import { Client } from 'pg';
import { getErrorCode, pause } from './files.ts';
import type { Place } from './data-folder.ts';

/** What the connection needs; the port and the encryption are named because PGPORT and PGSSLMODE would change them. */
export const getConnection = ({ socket }: Place) => ({
  host: socket,
  port: 5432,
  user: 'booking',
  database: 'booking',
  ssl: false,
});

type Connection = ReturnType<typeof getConnection>;

async function ask(connection: Connection, statement: string) {
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

/** Waits until the server answers and has our database; false when `running` says that nobody will start it any more. */
export async function waitForAnswer(place: Place, running: () => boolean) {
  const connection = getConnection(place);
  let end = performance.now() + 30_000;
  for (;;) {
    const code = await ask(connection, 'select 1');
    if (code === '') return true;
    if (code === '3D000')
      await ask({ ...connection, database: 'postgres' }, 'create database booking template template0');
    // Starting up: a recovery takes as long as it takes.
    if (code === '57P03') end = performance.now() + 30_000;
    if (!running()) return false;
    if (performance.now() > end) throw new Error(getFailure(place));
    await pause(10);
  }
}

/** Said to a client that asked too early, not why the server does not start. */
const answered = /starting up|shutting down|"booking" does not exist/;

/** One sentence on a start that failed, with the server's own last word. */
export function getFailure({ home, log }: Place) {
  let cause = '';
  try {
    const last = fs.readFileSync(log, 'utf8').split('--- start').at(-1)!;
    const causes = last.split('\n').filter((line) => /FATAL|PANIC|error:|^initdb:/.test(line) && !answered.test(line));
    cause = causes.at(-1) ?? '';
  } catch {
    // Without a log there is no cause to name.
  }
  const { bavail, bsize } = fs.statfsSync(home);
  const full = bavail * bsize < 64 * 2 ** 20 ? 'its disk is nearly full. ' : '';
  return `The database in ${home} does not start: ${full}${cause.trim() || 'the server gives no reason'} (see ${log})`;
}
