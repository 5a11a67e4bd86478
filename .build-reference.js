// Writes the files of a build that are no modules: the assets of src and the browser bundle of the API reference.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Replaces a file atomically. */
export function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}

/** Copies the style sheets, scripts and data of src beside a bundle, since its modules read them beside themselves. */
export function copyAssets(folder) {
  const all = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const files = all.filter((file) => /\.(css|js|ndjson|sh)$/.test(file));
  for (const file of files) write(join(folder, basename(file)), readFileSync(join('src', file)));
}

/** Writes the browser bundle of the API reference, and its name for the server. */
export async function writeReference() {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const name = `scalar-${devDependencies['@scalar/fastify-api-reference']}.js`;
  if (!existsSync(`dist/browser/${name}.br`)) await compressReference(`dist/browser/${name}`);
  write('dist/browser/manifest.json', JSON.stringify({ reference: name }));
}

/** The package exports the bundle only through a route. */
async function compressReference(path) {
  const [{ default: Fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = Fastify();
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, payload } = await app.inject('/docs/js/scalar.js');
  if (statusCode !== 200) throw new Error(`the browser bundle of the API reference was answered ${statusCode}`);
  const bytes = Buffer.from(payload.replace(/\n\/\/# sourceMappingURL=.*/, ''));
  write(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  write(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
}
