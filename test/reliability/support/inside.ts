import { until } from '../row.ts';
import type { Server } from './server.ts';

/** In milliseconds, megabytes and numbers; stall and peak memory since the last inspection. */
export type Inside = { stall: number; memory: number; resident: number; objects: number; handles: number };

/** The server with the inspection hook. */
export const watched = [process.execPath, '--import', './test/reliability/support/inside.js', 'dist/main.js'];

export async function lookInside(server: Server) {
  const said = () => [...server.printed().matchAll(/^inside (.*)$/gm)];
  const before = said().length;
  server.signal('SIGUSR2');
  await until(() => said().length > before, 10_000);
  return JSON.parse(said().at(-1)![1]!) as Inside;
}
