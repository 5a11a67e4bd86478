import { writeFileSync } from 'node:fs';
import type { Config } from './config.ts';

/**
 * Makes the OOM killer choose this process before a server in the same container. Skipped if this process may start the
 * embedded database, which would inherit the score.
 */
export function raiseOomScore({ DATABASE_URL }: Pick<Config, 'DATABASE_URL'>) {
  if (process.platform !== 'linux' || DATABASE_URL === undefined) return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // The file is missing or read-only in some sandboxes.
  }
}
