import type { Client } from 'pg';

/** True if the client is connected to a pooler, which reports a process id that differs from the backend's. */
export async function isPooled(client: Client) {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return (client as { processID?: number }).processID !== rows[0]!.pid;
}
