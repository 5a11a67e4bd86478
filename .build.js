// Bundles the server into dist: a start opens a few files in place of five hundred.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';

const { outputFiles } = await build({
  ...{ entryPoints: ['src/main.ts', 'src/cli.ts'], outdir: 'dist', chunkNames: 'parts/[name]-[hash]', write: false },
  ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', sourcemap: true },
  ...{ packages: 'external', mainFields: ['module', 'main'], logLevel: 'warning' },
  alias: { 'drizzle-orm': './node_modules/drizzle-orm', '@sinclair/typebox': './node_modules/@sinclair/typebox' },
});
// Renamed into place, parts before entries: another process may be starting from dist.
for (const { path, contents } of outputFiles.sort((a, b) => b.path.length - a.path.length)) {
  if (path.includes('-') && existsSync(path)) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}
