import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { send, settings, sharedTestApp } from '../../support/test-app.ts';

const { app } = await sharedTestApp();
const read = (headers: Record<string, string> = {}) =>
  send(app, { method: 'GET', url: '/catalog/course-dates.js', headers });

test('the script of <course-dates> is at most 12 kB compressed, and any site may load it', async () => {
  const response = await app.inject({ url: '/catalog/course-dates.js', headers: { 'accept-encoding': 'gzip' } });
  expect([response.statusCode, response.headers]).toMatchObject([
    200,
    {
      ...{ 'content-type': 'text/javascript; charset=utf-8', 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
      ...{ 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*' },
      'cross-origin-resource-policy': 'cross-origin',
    },
  ]);
  expect(response.rawPayload.length).toBeLessThanOrEqual(12_000);
  const source = readFileSync('src/plugins/pages/catalog/embed/course-dates.js', 'utf8');
  const served = gunzipSync(response.rawPayload).toString();
  expect(served).toBe(source.replace("'{catalogs}'", `"${settings.publicUrl}/catalog/"`));
  expect(served).not.toBe(source);
});

test('a copy of the script is current while its ETag is', async () => {
  const { headers } = await read();
  expect((await read({ 'if-none-match': String(headers['etag']) })).status).toBe(304);
});

test('the script writes no HTML, keeps nothing in the browser and sends no cookies', async () => {
  const { text } = await read();
  expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|cookie|Storage|style=/);
  expect(text.match(/fetch\(/g)).toHaveLength(1);
  expect(text).toContain("credentials: 'omit'");
});
