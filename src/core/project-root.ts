import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder with package.json and migrations; a bundle lies at another depth below it than its source. */
export const projectRoot = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('there is no package.json above the server');
  return findRoot(parent);
}
