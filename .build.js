// Bundles what runs into dist: our files, drizzle and TypeBox become a few, for a start would open five hundred.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const whole = 'dist/.built-of';
const made = madeOf();
if (readIfThere(whole) !== made) await bundle(`dist.${process.pid}`);

/** What it is built of, by content: a file may be older than the build and yet another one. */
function madeOf() {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const files = ['.build.js', 'package-lock.json', 'tsconfig.json', ...sources.map((name) => join('src', name))].sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('base64url');
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Into a folder of its own, which takes the place of dist when it is whole: another start may be reading it. */
async function bundle(folder) {
  // Only here: what is built already starts without what only developers need.
  const { build } = await import('esbuild');
  try {
    await build({
      // What node starts, and what servers that are broken on purpose are made of.
      entryPoints: ['main', 'cli', 'app', 'core/context', 'database/client', 'embedded-postgres/index'].map(
        (name) => `src/${name}.ts`,
      ),
      outbase: 'src',
      outdir: folder,
      bundle: true,
      splitting: true,
      // Two below the project, as most of src: what names a file beside both is right in both.
      chunkNames: 'parts/[name]-[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: true,
      packages: 'external',
      alias: { 'drizzle-orm': './node_modules/drizzle-orm', '@sinclair/typebox': './node_modules/@sinclair/typebox' },
      mainFields: ['module', 'main'],
      logLevel: 'warning',
    });
    writeFileSync(join(folder, '.built-of'), made);
    const old = `${folder}.old`;
    if (existsSync('dist')) renameSync('dist', old);
    renameSync(folder, 'dist');
    rmSync(old, { recursive: true, force: true });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    // Somebody else may just be putting the same in its place.
    await new Promise((done) => setTimeout(done, 200));
    if (readIfThere(whole) !== made) throw error;
  }
}
