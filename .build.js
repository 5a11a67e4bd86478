// Bundles the server into dist: loading a few files starts faster than five hundred.
import { existsSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';
import { copyAssets, write, writeReference } from './.build-reference.js';

const esbuild = await import('esbuild').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
});

try {
  // `npm prune --omit=dev` removes esbuild after the build of an installation.
  if (esbuild || !existsSync('dist/main.js')) await bundle();
} catch (error) {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
  console.error(
    `The server cannot be built: ${error.path} cannot be written (${error.code}). Build it in a folder that this user may write.`,
  );
  process.exitCode = 1;
}

async function bundle() {
  if (!esbuild) throw new Error('esbuild is not installed: run npm ci first');
  const { outputFiles } = await esbuild.build({
    ...{ entryPoints: ['src/main.ts', 'src/cli.ts'], outdir: 'dist', chunkNames: 'parts/[name]-[hash]', write: false },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', sourcemap: true },
    ...{ packages: 'external', mainFields: ['module', 'main'], logLevel: 'warning' },
    alias: { 'drizzle-orm': './node_modules/drizzle-orm', '@sinclair/typebox': './node_modules/@sinclair/typebox' },
  });
  copyAssets('dist/parts');
  // Written atomically, chunks before entries, since another process may be starting from dist.
  for (const { path, contents } of outputFiles.sort((a, b) => b.path.length - a.path.length)) {
    // The name of a chunk contains its hash.
    if (relative('dist', path).startsWith('parts') && existsSync(path)) continue;
    write(path, contents);
  }
  await writeReference();
  write('dist/commit', readCommit());
}

/** In an image, which has no repository, the build is given it. */
function readCommit() {
  if (process.env.REVISION) return process.env.REVISION;
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], options).trim();
  } catch {
    return 'unknown';
  }
}
