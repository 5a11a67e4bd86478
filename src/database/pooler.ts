import type { Client } from 'pg';

/** Whether a pooler is between: it answers with a process id of its own. */
export async function isPooled(client: Client) {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return (client as { processID?: number }).processID !== rows[0]!.pid;
}
