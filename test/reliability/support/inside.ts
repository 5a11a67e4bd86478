import { until } from '../row.ts';
import type { Server } from './server.ts';

/** The server, with what tells of its event loop and its memory. */
export const watched = [process.execPath, '--import', './test/reliability/support/inside.js', 'dist/main.js'];

/** The longest stall in milliseconds and the largest memory in megabytes, both since the last time it was asked. */
export async function lookInside(server: Server) {
  const said = () => [...server.printed().matchAll(/^inside (.*)$/gm)];
  const before = said().length;
  server.signal('SIGUSR2');
  await until(() => said().length > before, 10_000);
  return JSON.parse(said().at(-1)![1]!) as { stall: number; memory: number };
}
