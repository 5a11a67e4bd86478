import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { copyAssets } from '../../../.build-reference.js';
import { limits, openTestApp, openTestDatabase, ownDatabase, settings, type BuildApp } from '../../support/test-app.ts';

test('another build uses other ETags', async () => {
  mkdirSync('test/output', { recursive: true });
  const folder = mkdtempSync(join('test/output', 'build-'));
  // Other files change the data that all providers share, and with it every ETag.
  const { database, createProvider, close } = await openTestApp(openTestDatabase(await ownDatabase()));
  const me = await createProvider();
  await build({
    ...{ entryPoints: ['src/app.ts'], outfile: join(folder, 'dist/app.mjs'), packages: 'external' },
    ...{ bundle: true, format: 'esm', platform: 'node' },
  });
  // Version of the server's code, one level below its folder.
  const tagBy = async (copy: string) => {
    const module = (await import(join(process.cwd(), folder, copy, 'parts/app.mjs'))) as { buildApp: BuildApp };
    const app = await module.buildApp({ database, settings, version: 'test', limits });
    const { headers } = await app.inject({ url: '/v2/courses', headers: { 'x-api-key': me.apiKey } });
    await app.close();
    return headers['etag'];
  };
  try {
    for (const beside of ['migrations', 'package.json']) cpSync(beside, join(folder, beside), { recursive: true });
    for (const copy of ['one', 'same', 'other']) {
      cpSync(join(folder, 'dist/app.mjs'), join(folder, copy, 'parts/app.mjs'));
      copyAssets(join(folder, copy, 'parts'));
      writeFileSync(join(folder, copy, 'main.js'), copy === 'other' ? '// Another build.' : '');
    }
    const tag = await tagBy('one');
    expect(tag).toMatch(/^W\/"/);
    expect(await tagBy('same')).toBe(tag);
    expect(await tagBy('other')).not.toBe(tag);
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
});
