import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { projectRoot } from '../../core/project-root.ts';
import type { Asset } from '../../http/assets.ts';
import { loadOnce } from '../../http/compression/static-content.ts';

/** Scalar's browser bundle, which the build compresses; undefined without a build. */
export function findReferenceBundle(folder = join(projectRoot, 'dist/browser')): Asset | undefined {
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest)) return undefined;
  const { reference: name } = JSON.parse(readFileSync(manifest, 'utf8')) as { reference: string };
  const path = join(folder, name);
  return {
    name,
    content: {
      etag: `"${name}"`,
      encodings: ['br', 'gzip'],
      load: loadOnce(async (encoding) => {
        if (encoding === 'br') return readFile(`${path}.br`);
        const compressed = await readFile(`${path}.gz`);
        return encoding === 'gzip' ? compressed : promisify(gunzip)(compressed);
      }),
    },
  };
}
