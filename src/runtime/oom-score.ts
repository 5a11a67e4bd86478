import { writeFileSync } from 'node:fs';
import type { Config } from '../config.ts';

/**
 * Makes the kernel end this process first when memory runs out, not a server in the same container. Children would
 * inherit it, so it is left out when this process may start the embedded database.
 */
export function raiseOomScore({ DATABASE_URL }: Pick<Config, 'DATABASE_URL'>) {
  if (process.platform !== 'linux' || DATABASE_URL === undefined) return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Some sandboxes have no such file, or a read-only one.
  }
}
