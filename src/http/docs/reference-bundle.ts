import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { projectRoot } from '../../lib/project-root.ts';
import type { Content } from '../compressed-content.ts';

const packageName = '@scalar/fastify-api-reference';

/** Scalar's browser bundle, compressed by the build. It is read for each request: browsers cache it by its version. */
export function findReferenceBundle(): (Content & { name: string }) | undefined {
  const { devDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const name = `scalar-${devDependencies[packageName]}.js`;
  const path = join(projectRoot, 'dist/browser', name);
  if (!existsSync(`${path}.br`)) return undefined;
  return {
    name,
    etag: `"${name}"`,
    async load(encoding) {
      if (encoding === 'br') return readFile(`${path}.br`);
      const compressed = await readFile(`${path}.gz`);
      return encoding === 'gzip' ? compressed : promisify(gunzip)(compressed);
    },
  };
}
