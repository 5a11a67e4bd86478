import { waitUntil } from '../scenario.ts';
import type { Server } from './server.ts';

/** The values are milliseconds, megabytes and numbers; stall and peak memory since the last inspection. */
type Inspection = { stall: number; memory: number; resident: number; objects: number; handles: number };

export const inspectionOptions = ['--import', './test/reliability/support/inspection-hook.js'];
/** The server with the inspection hook. */
export const inspectedCommand = [process.execPath, ...inspectionOptions, 'dist/main.js'];

export async function inspectServer(server: Server) {
  const reports = () => [...server.output().matchAll(/^inside (.*)$/gm)];
  const before = reports().length;
  server.signal('SIGUSR2');
  await waitUntil(() => reports().length > before, 10_000);
  return JSON.parse(reports().at(-1)![1]!) as Inspection;
}
