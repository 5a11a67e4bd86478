import { cpus, totalmem } from 'node:os';
import type { Subject } from './database.ts';

export async function describeMachine({ database }: Subject) {
  const { rows } = await database.pool.query<{ version: string }>(
    "select current_setting('server_version') as version",
  );
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const versions = { node: process.version, postgresql: rows[0]!.version };
  return { processor: cores[0]?.model ?? 'unknown', cores: cores.length, memory, ...versions };
}
