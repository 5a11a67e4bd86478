import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { browserOfFile, chromiumPath } from '../../support/browser.ts';
import { blocksOf } from '../../support/documented-samples.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { createPublicCatalog, secret } from '../../support/public-catalog.ts';
import { limits, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

/** A page of another origin. */
async function startPage(content = () => '') {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Website</title>${content()}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Call = { url: string; key?: string; method?: string; etag?: string };
type Answer = { status: number; text: string; etag: string | null; remaining: string | null } | 'not readable';

/** Runs in the page. */
async function callFromPage({ url, key, method = 'GET', etag }: Call): Promise<Answer> {
  const headers = { ...(key && { 'X-API-Key': key }), ...(etag && { 'If-None-Match': etag }) };
  try {
    const response = await fetch(url, { method, headers, cache: 'no-store' });
    return {
      status: response.status,
      text: await response.text(),
      etag: response.headers.get('etag'),
      remaining: response.headers.get('ratelimit-remaining'),
    };
  } catch {
    return 'not readable';
  }
}

describe.skipIf(chromiumPath === undefined)('a page on another origin in Chromium', () => {
  const browser = browserOfFile();

  test('reads the public catalog with a publishable key, and can read nothing else', async () => {
    const testApp = await openTestApp(openTestDatabase(await ownDatabase()), {
      limits: { ...limits, rate: { perSecond: 100, burst: 1_000 } },
    });
    onTestFinished(() => testApp.close());
    const address = await testApp.app.listen({ port: 0, host: '127.0.0.1' });
    const { me, publicIds } = await createPublicCatalog(testApp);
    const [site, otherSite] = [await startPage(), await startPage()];
    const key = await withProfile(testApp, me, 'publishable', { origins: [site] });
    const others = await Promise.all(
      (['full', 'read', 'booking'] as const).map((profile) => withProfile(testApp, me, profile)),
    );
    const { page } = await browser.open();
    await page.goto(site);
    const call = (path: string, more: Omit<Call, 'url'> = {}) =>
      page.evaluate(callFromPage, { url: `${address}${path}`, key: key.apiKey, ...more });
    const read = async (path: string, more: Omit<Call, 'url'> = {}) => {
      const answer = await call(path, more);
      if (answer === 'not readable') throw new Error(`${path} is not readable`);
      expect(answer.text).not.toContain(secret);
      return answer;
    };

    const courses = await read('/v2/courses?include[]=products');
    const readIds = (JSON.parse(courses.text) as { id: number }[]).map(({ id }) => id);
    expect([courses.status, readIds]).toEqual([200, publicIds.courses]);
    expect(Number(courses.remaining)).toBeGreaterThan(0);
    expect((await read('/v2/courses?include[]=products', { etag: courses.etag! })).status).toBe(304);
    for (const path of [
      ...['/v2/coursedates', '/v2/nextcoursedates', '/v2/locations', '/v2/instructors', '/v2/course-tags'],
      ...['/v2/durations', '/v2/schools', '/v2/whoami', `/v2/courses/${publicIds.courses[0]}`],
    ])
      expect((await read(path)).status, path).toBe(200);

    const closed = ['/v2/orders', '/v2/participants', '/v2/customers', '/v2/admin-users', '/v2/campaigns', '/schools'];
    for (const path of [...closed, '/openapi.json']) expect(await call(path), path).toBe('not readable');
    for (const [path, method] of [
      ['/v2/courses', 'POST'],
      ['/v2/booking', 'POST'],
      [`/v2/courses/${publicIds.courses[0]}`, 'DELETE'],
    ] as const)
      expect(await call(path, { method }), `${method} ${path}`).toBe('not readable');
    for (const { apiKey } of others) expect(await call('/v2/courses', { key: apiKey })).toBe('not readable');

    await page.goto(otherSite);
    expect(await call('/v2/courses')).toBe('not readable');
  });

  test('runs the sample of docs/guides/keys.md as printed', async () => {
    const testApp = await openTestApp(openTestDatabase(await ownDatabase()));
    onTestFinished(() => testApp.close());
    const address = await testApp.app.listen({ port: 0, host: '127.0.0.1' });
    const { me } = await createPublicCatalog(testApp);
    const [sample = ''] = blocksOf('docs/guides/keys.md', 'html');
    let page = '';
    const site = await startPage(() => page);
    const { apiKey } = await withProfile(testApp, me, 'publishable', { origins: [site] });
    page = sample.replace('https://booking.example', address).replace('cbs_…', apiKey);
    const opened = await browser.open();
    await opened.page.goto(site);
    const items = opened.page.locator('#courses li');
    await items.first().waitFor();
    const response = await testApp.app.inject({ url: '/v2/courses?limit=20', headers: { 'x-api-key': apiKey } });
    const titles = response.json<{ title: string }[]>().map(({ title }) => title);
    expect(titles.length).toBeGreaterThan(0);
    await expect.poll(() => items.allTextContents()).toEqual(titles);
    expect(opened.complaints).toEqual([]);
    console.log('1 sample run of docs/guides/keys.md');
  });
});
