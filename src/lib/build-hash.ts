import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Hash of the running code, so that a response of one build is never taken for that of another. */
export const buildHash = hashFolder(join(import.meta.dirname, '..'));

function hashFolder(folder: string) {
  const all = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  for (const name of files.sort()) all.update(name).update(readFileSync(join(folder, name)));
  return all.digest('base64url');
}
