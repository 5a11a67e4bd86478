import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './project-root.ts';

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
