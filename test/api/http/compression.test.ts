import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { addDate } from '../../support/dates.ts';
import { createUser } from '../../support/orders.ts';
import { createSessionCookie } from '../../support/pages.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { app } = testApp;
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as { port: number };

const me = await testApp.createProvider();
const course = await me.course({ text_description: 'A text that repeats itself. '.repeat(40) });
for (let n = 0; n < 20; n += 1) await addDate(me, course);

type Received = { status: number; headers: IncomingMessage['headers']; body: Buffer };

const ownKey: Record<string, string> = { 'x-api-key': me.apiKey };
const withEncoding = (headers: Record<string, string>, encoding: string | undefined) =>
  encoding === undefined ? headers : { ...headers, 'accept-encoding': encoding };

async function send(path: string, acceptEncoding?: string, { method = 'GET', headers = ownKey } = {}) {
  const sent = request({ port, host: '127.0.0.1', path, method, headers: withEncoding(headers, acceptEncoding) }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const received: Received = { status: response.statusCode!, headers: response.headers, body: await buffer(response) };
  return received;
}

const decompress: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
};
const encodings = Object.keys(decompress);
const lists = ['/v2/courses', '/v2/coursedates?include[]=course', '/v2/courses?paginate=1'];
/** Documents without a key. */
const documents = ['/openapi.json', '/docs/', '/docs/guides', '/llms.txt', '/workflows.arazzo.yaml'];

test.each(encodings)('a list is compressed with %s, the first time and from the cache', async (encoding) => {
  for (const path of lists) {
    const plain = await send(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const round of ['computed', 'cached']) {
      const { status, headers, body } = await send(path, encoding);
      expect([status, headers['content-encoding']], round).toEqual([200, encoding]);
      expect(decompress[encoding]!(body).equals(plain.body), round).toBe(true);
      expect(Number(headers['content-length']), round).toBe(body.length);
      expect(body.length).toBeLessThan(plain.body.length / 3);
      expect(headers.vary).toBe('Accept-Encoding, Accept-Language, X-API-Key');
    }
  }
});

test('one ETag serves every encoding', async () => {
  for (const path of lists) {
    const etags = await Promise.all([undefined, ...encodings].map(async (one) => (await send(path, one)).headers.etag));
    expect(new Set(etags).size, path).toBe(1);
    const response = await me.get(path, { 'if-none-match': etags[0]!, 'accept-encoding': 'gzip' });
    expect([response.status, response.text, response.headers['content-encoding']]).toEqual([304, '', undefined]);
    expect(response.headers['vary']).toBe('Accept-Encoding, Accept-Language, X-API-Key');
    const any = await me.get(path, { 'if-none-match': '*', 'accept-encoding': 'gzip' });
    expect([any.status, any.text, any.headers['content-encoding']]).toEqual([304, '', undefined]);
  }
});

test.each([undefined, ...encodings])('HEAD with Accept-Encoding: %s has the headers of GET', async (encoding) => {
  for (const path of [...lists, `/v2/courses/${course}`]) {
    const [got, head] = [await send(path, encoding), await send(path, encoding, { method: 'HEAD' })];
    expect(head.body.length).toBe(0);
    for (const name of ['content-length', 'content-encoding', 'content-type', 'etag', 'vary'])
      expect(head.headers[name], `${path} ${name}`).toBe(got.headers[name]);
  }
});

test.each<[string, string | undefined]>([
  ['gzip, deflate, br', 'gzip'],
  ['br;q=0.5, gzip;q=0.9', 'gzip'],
  ['gzip;q=0', undefined],
  ['identity', undefined],
  ['deflate', undefined],
  ['', undefined],
  ['*', 'br'],
  ['nonsense;;q=x', undefined],
])('Accept-Encoding: %s gets %s', async (header, expected) => {
  const { status, headers } = await send('/v2/courses', header);
  expect([status, headers['content-encoding']]).toEqual([200, expected]);
});

test('a single item and an error with many fields are compressed, a short response is not', async () => {
  const item = await send(`/v2/courses/${course}`, 'gzip');
  expect(item.headers['content-encoding']).toBe('gzip');
  const short = await send('/v2/durations/none', 'gzip');
  expect([short.status, short.headers['content-encoding']]).toEqual([404, undefined]);
});

test.each(documents)('%s is compressed', async (path) => {
  const plain = await send(path, undefined, { headers: {} });
  const { headers, body } = await send(path, 'gzip', { headers: {} });
  expect(headers['content-encoding']).toBe('gzip');
  expect(headers.vary).toContain('Accept-Encoding');
  expect(zlib.gunzipSync(body).length).toBe(plain.body.length);
});

test('a personal page is compressed', async () => {
  const cookie = await createSessionCookie(me, await createUser(me));
  const { headers, body } = await send('/my', 'gzip', { headers: { cookie } });
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding, Accept-Language, Cookie' });
  expect(zlib.gunzipSync(body).toString()).toContain('<!doctype html>');
});

test('a write is followed by a new compressed response', async () => {
  const other = await testApp.createProvider();
  await other.course({ text_description: 'x'.repeat(2_000) });
  const titles = async () => {
    const { body } = await send('/v2/courses', 'gzip', { headers: { 'x-api-key': other.apiKey } });
    return (JSON.parse(zlib.gunzipSync(body).toString()) as { title: string }[]).map(({ title }) => title);
  };
  expect(await titles()).toHaveLength(1);
  await other.course({ title: 'Second' });
  expect(await titles()).toContain('Second');
});

test('the cache holds the compressed bytes, not the plain ones', async () => {
  const cache = app.listCache.responses!.entries;
  const before = cache.calculatedSize;
  const path = '/v2/coursedates?include[]=course&limit=19';
  const { body } = await send(path, 'gzip');
  const added = cache.calculatedSize - before;
  expect(zlib.gunzipSync(body).length).toBeGreaterThan(2 * added);
  expect(added).toBeGreaterThan(body.length);
});

test('a compressed response in the cache serves only requests that accept its encoding', async () => {
  const path = '/v2/coursedates?include[]=course&limit=18';
  expect((await send(path, 'gzip')).headers['content-encoding']).toBe('gzip');
  const plain = await send(path);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(plain.body.toString())).toHaveProperty('pagination');
  expect((await send(path, 'br')).headers['content-encoding']).toBe('br');
});
