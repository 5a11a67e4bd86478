import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Run } from '../scenario.ts';
import { temporaryFolder } from './folder.ts';

const execute = promisify(execFile);

/** Builds a release from the history, with the present packages. Undefined if the history does not have it. */
export async function buildRelease(run: Run, minor: string): Promise<string | undefined> {
  const search = ['log', '--format=%H', `-S## [${minor}.0]`, '--reverse', '--', 'docs/CHANGELOG.md'];
  const { stdout } = await execute('git', search).catch(() => ({ stdout: '' }));
  const [commit] = stdout.split('\n');
  if (!commit) return undefined;
  const folder = temporaryFolder(run);
  await execute('sh', ['-c', `git archive ${commit} | tar -x -C '${folder}'`]);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  await execute(process.execPath, ['.build.js'], { cwd: folder });
  return folder;
}
