import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { projectRoot } from './project-root.ts';

/** Hash of the running code, `src` or `dist`, so that a response of one build is never taken for that of another. */
export const buildHash = hashFolder(join(projectRoot, relative(projectRoot, import.meta.dirname).split(sep)[0]!));

function hashFolder(folder: string) {
  const all = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  for (const name of files.sort()) all.update(name).update(readFileSync(join(folder, name)));
  return all.digest('base64url');
}
