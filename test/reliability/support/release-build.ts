import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Cleanup } from '../scenario.ts';
import { temporaryFolder } from './folder.ts';

const execute = promisify(execFile);

/** Builds a release from the history. Undefined if the history does not have it. */
export async function buildRelease(run: Cleanup, minor: string): Promise<string | undefined> {
  const search = ['log', '--format=%H', `-S## [${minor}.0]`, '--reverse', '--', 'docs/CHANGELOG.md'];
  const { stdout } = await execute('git', search).catch(() => ({ stdout: '' }));
  const [commit] = stdout.split('\n');
  return commit ? buildCommit(run, commit) : undefined;
}

/**
 * Builds a commit, with the present packages and those that have been removed since. Undefined if the history does not
 * have it.
 */
export async function buildCommit(run: Cleanup, commit: string): Promise<string | undefined> {
  const isKnown = await execute('git', ['cat-file', '-e', `${commit}^{commit}`]).then(
    () => true,
    () => false,
  );
  if (!isKnown) return undefined;
  const folder = temporaryFolder(run);
  await execute('sh', ['-c', `git archive ${commit} | tar -x -C '${folder}'`]);
  await linkPackages(folder);
  await execute(process.execPath, ['.build.js'], { cwd: folder });
  return folder;
}

async function linkPackages(folder: string) {
  const link = (name: string, from: string) => {
    const target = join(folder, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(from, 'node_modules', name), target);
  };
  const present = listPackages();
  for (const name of present) link(name, resolve());
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const removed = Object.keys(dependencies).filter((name) => !present.includes(name));
  if (removed.length === 0) return;
  const removedFolder = join(folder, 'removed');
  const packages = removed.map((name) => `${name}@${dependencies[name]!}`);
  const options = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--prefix', removedFolder];
  await execute('npm', ['install', ...options, ...packages]);
  for (const name of removed) link(name, removedFolder);
}

/** The names of the present packages, those of scopes too. */
const listPackages = () =>
  readdirSync('node_modules').flatMap((name) =>
    name.startsWith('@') ? readdirSync(join('node_modules', name)).map((member) => `${name}/${member}`) : [name],
  );
