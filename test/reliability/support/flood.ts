import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Run } from '../scenario.ts';
import { bundle } from '../../support/bundle.ts';
import type { Server } from './server.ts';

/** `count`: requests without a key in one write, on each of the connections. */
export type Flood = { connections: number; count: number; path: string };

/** Starts a flood in a process of its own; the returned function ends it. */
export async function startFlood(run: Run, { port }: Server, { connections, count, path }: Flood) {
  const program = await bundle('test/reliability/support/pipelining-client.ts');
  const child = spawn(process.execPath, [program, String(port), String(connections), String(count), path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  run.onCleanup(() => child.kill('SIGKILL'));
  const output = text(child.stdout);
  return async () => {
    child.stdin.end();
    await once(child, 'exit');
    return JSON.parse(await output) as { connections: number; responses: number; refused: number };
  };
}
