import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder with package.json and migrations; a bundle lies at another depth below it than its source. */
export const projectRoot = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('there is no package.json above the server');
  return findRoot(parent);
}

export const packageVersion = () =>
  (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }).version;

/** The commit that was built; `unknown` where the build did not know it. */
export function builtCommit() {
  try {
    return readFileSync(join(projectRoot, 'dist/commit'), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

export function describeVersion() {
  const commit = builtCommit();
  return commit === 'unknown' ? packageVersion() : `${packageVersion()} (commit ${commit})`;
}
