import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from '../scenario.ts';

/** A temporary folder, removed when the scenario ends. */
export function temporaryFolder(run: Cleanup) {
  const folder = mkdtempSync(join(tmpdir(), 'booking-reliability-'));
  run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
