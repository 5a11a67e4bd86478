import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { backupApplication } from '../../database/client.ts';

/** Settings that fix the text form of values, and no time limits: a table may take minutes. */
const settings = `set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres';
  set local bytea_output = 'hex'; set local extra_float_digits = 1; set local client_encoding = 'UTF8';
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local search_path = public`;

/** Runs `work` in one transaction of an own connection. An abort ends the connection, and with it the statement. */
export async function inTransaction<T>(
  connection: ClientConfig,
  mode: string,
  work: (client: Client) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const client = new Client({
    ...connection,
    application_name: backupApplication,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  const abort = () => destroy(client);
  try {
    await client.connect();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort);
    await client.query(`begin ${mode}; ${settings}`);
    const result = await work(client);
    await client.query('commit');
    await client.end();
    return result;
  } catch (error) {
    // Ends a COPY too, which `end` would wait for; the server rolls back.
    destroy(client);
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

const destroy = (client: Client) => (client as Client & { connection: { stream: Socket } }).connection.stream.destroy();

/** Returns a connection configuration with the same server and role, and another database. */
export function withDatabase({ connectionString, ...rest }: ClientConfig, database: string): ClientConfig {
  if (connectionString === undefined) return { ...rest, database };
  const [, server, query] = /^([^/]*\/\/[^/?]*)(?:\/[^?]*)?((?:\?.*)?)$/s.exec(connectionString)!;
  return { ...rest, connectionString: `${server}/${encodeURIComponent(database)}${query}` };
}
