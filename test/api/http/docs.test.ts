import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { loadGuides } from '../../../src/plugins/docs/guides.ts';
import { findReferenceBundle, referenceRoutes } from '../../../src/plugins/docs/routes.ts';
import { buildAppWith, replaceIn } from '../../support/bundle.ts';
import { docsPages, getPage, pageName } from '../../support/docs-pages.ts';
import { openTestDatabase, openTestApp, send, settings, sharedTestApp } from '../../support/test-app.ts';

const { app } = await sharedTestApp();
const names = docsPages.map(pageName).filter((name) => name !== 'README');

async function openAppAt(publicUrl: string) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), { settings: { ...settings, publicUrl } });
  onTestFinished(testApp.close);
  return testApp.app;
}

async function openWithout(plugin: string) {
  const list = replaceIn(`without-${plugin}`, /src\/plugins\.ts$/, `${plugin}, `, '');
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {}, await buildAppWith(list));
  onTestFinished(testApp.close);
  return testApp;
}

/** Addresses of the resources that a page loads. */
const resources = (html: string) =>
  [...html.matchAll(/<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"]+)"/g)]
    .map(([, address]) => address!)
    .filter((address) => !address.startsWith('data:'));
const links = (html: string) => [...html.matchAll(/<a\b[^>]*?\bhref="([^"]+)"/g)].map(([, address]) => address!);

const pages = ['/docs', '/docs/guides', ...names.map((name) => `/docs/guides/${name}`)];

test.each(pages)('%s loads only resources of this host that exist', async (url) => {
  const page = await send(app, { url });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const addresses = resources(page.text);
  expect(addresses.length).toBeGreaterThan(0);
  for (const address of addresses) {
    expect(address).toMatch(/^\/docs\//);
    const { status, headers } = await send(app, { url: address });
    expect([status, headers['cache-control']], address).toEqual([200, 'public, max-age=31536000, immutable']);
  }
  expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|\bstyle="|\bon\w+="/);
});

test('pages allow scripts and requests of this host only', async () => {
  const policy = async (url: string) => (await send(app, { url })).headers['content-security-policy'];
  const common = "img-src 'self' data:;base-uri 'none';form-action 'none';frame-ancestors 'none'";
  expect(await policy('/docs')).toBe(
    `default-src 'none';${common};script-src 'self';connect-src 'self';style-src 'self' 'unsafe-inline';font-src data:`,
  );
  expect(await policy('/docs/guides/sync')).toBe(
    `default-src 'none';${common};script-src 'self';connect-src 'self';style-src 'self'`,
  );
});

test('over plain HTTP no header is sent that browsers only accept over HTTPS', async () => {
  const secure = ['strict-transport-security', 'cross-origin-opener-policy', 'origin-agent-cluster'];
  const sent = async (own: typeof app) => {
    const { headers } = await send(own, { url: '/docs' });
    return secure.filter((name) => name in headers);
  };
  expect(await sent(app)).toEqual([]);
  expect(await sent(await openAppAt('https://school.example/booking'))).toEqual(secure);
});

test('the bundle of the reference is compressed, and 304 for its ETag', async () => {
  const { text } = await send(app, { url: '/docs' });
  const url = resources(text).find((address) => address.includes('scalar'))!;
  const load = async (headers: Record<string, string>) => app.inject({ url, headers });
  const plain = await load({});
  expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(plain.body).not.toContain('sourceMappingURL');
  const decompress = { gzip: gunzipSync, br: brotliDecompressSync };
  for (const encoding of ['gzip', 'br'] as const) {
    const compressed = await load({ 'accept-encoding': encoding });
    expect([compressed.headers['content-encoding'], compressed.headers.vary]).toEqual([encoding, 'Accept-Encoding']);
    expect(decompress[encoding](compressed.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
    const etag = String(compressed.headers.etag);
    const again = await load({ 'accept-encoding': encoding, 'if-none-match': etag });
    expect([again.statusCode, again.body, etag === plain.headers.etag]).toEqual([304, '', false]);
  }
});

test('without a build, /docs says how to build the reference', async () => {
  const bundle = findReferenceBundle('/nowhere');
  const own = Fastify();
  onTestFinished(() => own.close());
  await own.register(referenceRoutes, { publicUrl: 'http://localhost:3000', basePath: '', bundle });
  const { statusCode, body } = await own.inject('/docs');
  expect([bundle, statusCode, links(body)]).toEqual([undefined, 200, ['/docs', '/docs/guides', '/openapi.json']]);
  expect(body).toContain('run <code>npm run build</code>');
  expect(body).not.toContain('<script');
});

/** Markdown without the targets of its links. */
const withoutTargets = (markdown: string) => markdown.replaceAll(/\]\([^)\s]+\)|^(\[[^\]]+\]: )\S+$/gm, ']$1');

describe('guides', () => {
  test('every page of docs/ is served as HTML and as Markdown, and listed in the index and in /llms.txt', async () => {
    const index = links((await send(app, { url: '/docs/guides' })).text);
    const llms = (await send(app, { url: '/llms.txt' })).text;
    for (const name of names) {
      expect(index, name).toContain(`/docs/guides/${name}`);
      expect(llms).toContain(`](http://localhost:3000/docs/guides/${name}.md)`);
      const { status, headers, text } = await send(app, { url: `/docs/guides/${name}.md` });
      expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(withoutTargets(text)).toBe(withoutTargets(readFileSync(getPage(name), 'utf8')));
    }
  });

  test('the index has the groups of docs/README.md, and marks the current page', async () => {
    const { text } = await send(app, { url: '/docs/guides/sync' });
    const navigation = text.slice(text.indexOf('<nav class="guides"'));
    expect([...navigation.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title)).toEqual([
      'Tutorial',
      'Guides for client developers',
      'Guides for operators',
      'Reference',
      'Explanation',
    ]);
    expect(navigation).toContain('<a href="/docs/guides/sync" aria-current="page">Pagination and sync</a>');
    expect(navigation).toContain('<a href="#read-only-what-changed">Read only what changed</a>');
  });

  test('links between pages lead to pages and headings that exist', async () => {
    const ids = new Map<string, Set<string>>();
    const texts = new Map<string, string>();
    for (const url of pages.slice(1)) {
      const { text } = await send(app, { url });
      texts.set(url, text);
      ids.set(url, new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id!)));
    }
    const broken: string[] = [];
    for (const [url, text] of texts) {
      for (const link of links(text)) {
        const { origin, pathname, hash } = new URL(link, `http://here${url}`);
        if (origin !== 'http://here' || pathname.endsWith('.md') || pathname === '/docs') continue;
        const known = ids.get(pathname);
        if (!known || (hash && !known.has(decodeURIComponent(hash.slice(1))))) broken.push(`${url}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('links of the served Markdown lead to Markdown that is served too', async () => {
    const served = new Set(['README', ...names].map((name) => `${name}.md`));
    const lost: string[] = [];
    for (const name of ['README', ...names]) {
      const { text } = await send(app, { url: `/docs/guides/${name}.md` });
      const targets = [...text.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(([, link, own]) => link ?? own!);
      const files = targets.map((target) => target.split('#')[0]!).filter((file) => /^[^:]+\.md$/.test(file));
      lost.push(...files.filter((file) => !served.has(file)).map((file) => `${name}: ${file}`));
    }
    expect(lost).toEqual([]);
  });

  test('the search index has each heading of each page, with its text', async () => {
    const { status, headers, json } = await send(app, { url: '/docs/guides/search.json' });
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const sections = json<{ page: string; heading: string; url: string; text: string }[]>();
    expect(sections.length).toBeGreaterThan(names.length * 3);
    expect(sections.find(({ heading }) => heading === 'Read only what changed')).toEqual({
      page: 'Pagination and sync',
      heading: 'Read only what changed',
      url: '/docs/guides/sync#read-only-what-changed',
      text: expect.stringContaining('updated_at_min'),
    });
    for (const url of new Set(sections.map((section) => section.url.split('#')[0]!))) {
      const { text } = await send(app, { url });
      const ids = new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id!));
      const lost = sections.filter((one) => one.url.startsWith(`${url}#`) && !ids.has(one.url.split('#')[1]!));
      expect(lost).toEqual([]);
    }
  });

  test('code is highlighted, and a button opens the menu', async () => {
    const { text } = await send(app, { url: '/docs/guides/requests' });
    expect(text).toMatch(/<pre tabindex="0"><code>[^<]*<span class="hljs-/);
    expect(text).toMatch(/<button[^>]* popovertarget="guides"/);
    expect(text).toMatch(/<nav class="guides" id="guides"[^>]* popover="auto"/);
  });

  test('HTML in Markdown is escaped', async () => {
    const { text } = await send(app, { url: '/docs/guides/requests' });
    expect(text).toContain('&lt;?php');
    expect(text).not.toContain('<?php');
  });

  test.each([
    '..%2fdocs%2fsync',
    'guides%2fsync',
    '..%2fpackage.json',
    '%2e%2e%2fpackage.json.md',
    'nothing',
    'sync.txt',
    'llms.txt',
    'sync.md.md',
  ])('/docs/guides/%s is 404', async (file) => {
    const { status, text } = await send(app, { url: `/docs/guides/${file}` });
    expect([status, text.includes('course-booking-service')]).toEqual([404, false]);
  });

  test('a page is rendered and compressed once, with a strong ETag', async () => {
    const own = await openAppAt('http://localhost:3000');
    let compressions = 0;
    const hook = createHook({ init: (_id, type) => void (compressions += type === 'ZLIB' ? 1 : 0) }).enable();
    onTestFinished(() => void hook.disable());
    const load = (headers: Record<string, string>) => own.inject({ url: '/docs/guides/sync', headers });
    const [first] = await Promise.all([{}, {}, {}].map(() => load({ 'accept-encoding': 'gzip' })));
    const etag = String(first!.headers.etag);
    expect(etag).toMatch(/^"[\w-]{27}-gzip"$/);
    const again = await load({ 'accept-encoding': 'gzip', 'if-none-match': etag });
    expect([again.statusCode, again.body, compressions]).toEqual([304, '', 1]);
  });

  test('without a plugin its pages are neither served nor listed nor linked', async () => {
    const testApp = await openWithout('delivery');
    const load = async (url: string) => (await send(testApp.app, { url })).text;
    for (const file of ['webhooks', 'webhooks.md'])
      expect((await send(testApp.app, { url: `/docs/guides/${file}` })).status).toBe(404);
    const others = ['README', ...names].filter((name) => name !== 'webhooks');
    const urls = ['/llms.txt', '/docs/guides', '/docs/guides/search.json'];
    const guides = others.flatMap((name) => [`/docs/guides/${name}`, `/docs/guides/${name}.md`]);
    const linking = [];
    for (const url of [...urls, ...guides])
      if (/guides\/webhooks\b|\bwebhooks\.md\b/.test(await load(url))) linking.push(url);
    expect(linking).toEqual([]);
    expect(await load('/docs/guides')).not.toContain('get each change sent to your server');
    expect(await load('/docs/guides/changes.md')).toContain('| webhooks, which send this feed');
  });

  test('the OpenAPI document links the guides where they are served', async () => {
    const load = async (removed: string) => {
      const testApp = await openWithout(removed);
      return (await send(testApp.app, { url: '/openapi.json' })).json<Record<string, unknown>>()['externalDocs'];
    };
    expect(await load('delivery')).toEqual({ description: 'Guides', url: 'http://localhost:3000/docs/guides' });
    expect(await load('docs')).toBeUndefined();
  });

  test('without the folder there are no guides', async () => {
    expect(await loadGuides('/docs/guides', new Set(), '/nowhere')).toBeUndefined();
  });
});

test('behind a base path every address contains it, with and without a trailing slash', async () => {
  const own = await openAppAt('https://school.example/booking');
  for (const url of ['/docs', '/docs/', '/docs/guides', '/docs/guides/', '/docs/guides/sync', '/docs/guides/sync/']) {
    const page = await send(own, { url });
    expect(page.status, url).toBe(200);
    const addresses = [...resources(page.text), ...links(page.text)].filter((address) => !/^(#|https?:)/.test(address));
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of addresses) {
      expect(address, url).toMatch(/^\/booking\/(docs|openapi\.json)/);
      // The proxy removes the base path.
      expect((await send(own, { url: address.slice('/booking'.length) })).status, address).toBe(200);
    }
  }
  const llms = (await send(own, { url: '/llms.txt' })).text;
  expect(llms).toContain('](https://school.example/booking/openapi.json)');
  expect(llms).toContain('](https://school.example/booking/docs/guides/sync.md)');
});

test('/llms.txt begins with a title and a summary, followed by sections of links', async () => {
  const { headers, text } = await send(app, { url: '/llms.txt' });
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text).toMatch(/^# Course Booking Service\n\n> .+/);
  for (const line of text
    .split('\n## ')
    .slice(1)
    .flatMap((section) => section.trim().split('\n').slice(2)))
    expect(line).toMatch(/^- \[[^\]]+\]\(http:\/\/localhost:3000\/[\w./-]+\)/);
});

test('other methods are 405', async () => {
  for (const url of ['/docs', '/docs/guides', '/docs/guides/sync', '/llms.txt']) {
    const { status, headers } = await send(app, { method: 'POST', url });
    expect([status, headers['allow']], url).toEqual([405, 'GET, HEAD']);
  }
});
