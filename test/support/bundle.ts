import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { build, buildSync, type BuildOptions, type Plugin } from 'esbuild';
import { copyAssets } from '../../.build-reference.js';
import type { BuildApp } from './test-app.ts';

/** Bundles a test program with its imports from src; returns the path of the bundle. */
export async function bundle(entry: string, plugins: Plugin[] = []): Promise<string> {
  const outfile = pathOf([entry, ...plugins.map(({ name }) => name)]);
  await build({ ...optionsOf(entry, outfile), plugins });
  return outfile;
}

/** `buildApp` with a replaced module. */
export async function buildAppWith(replacement: Plugin) {
  const module = (await import(resolve(await bundle('src/app.ts', [replacement])))) as { buildApp: BuildApp };
  return module.buildApp;
}

export function bundleSync(entry: string): string {
  const outfile = pathOf([entry]);
  buildSync(optionsOf(entry, outfile));
  return outfile;
}

function pathOf(parts: string[]) {
  copyAssets('test/output');
  return `test/output/${parts.join('-').replace(/\W/g, '-')}-${process.pid}.mjs`;
}

const optionsOf = (entry: string, outfile: string): BuildOptions => ({
  ...{ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20' },
  ...{ packages: 'external', logLevel: 'warning' },
});

/** A plugin that replaces a text of a source file, for negative controls. */
export const replaceIn = (name: string, filter: RegExp, from: string | RegExp, to: string): Plugin => ({
  name,
  setup({ onLoad }) {
    onLoad({ filter }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replace(from, to);
      if (contents === source) throw new Error(`${path} has changed`);
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
});
