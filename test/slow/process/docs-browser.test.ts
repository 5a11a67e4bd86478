import { readdirSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { loadDemo } from '../../../src/demo/load.ts';
import { newApiKey } from '../../../src/lib/api-key.ts';
import {
  accessibilityViolations,
  chromiumPath,
  saveScreenshot,
  launchBrowser,
  openPage,
  horizontalOverflow,
} from '../../support/browser.ts';
import { freePort } from '../../support/ports.ts';
import { openTestDatabase, openTestApp, ownDatabase, settings } from '../../support/test-app.ts';

const widths = { phone: 390, desk: 1280 };

/** A server that a browser can reach at `path`, below which a proxy removes it. */
async function startServer({ path = '', database = inject('shared') } = {}) {
  const [port, proxyPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${path ? proxyPort : port}${path}`;
  const testApp = await openTestApp(openTestDatabase(database), { settings: { ...settings, publicUrl: url } });
  onTestFinished(() => testApp.close());
  await testApp.app.listen({ port, host: 'localhost' });
  if (path) await startProxy(path, proxyPort, port);
  return url;
}

async function startProxy(path: string, proxyPort: number, port: number) {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(`${path}/`)) return outgoing.writeHead(404).end();
    const options = { host: 'localhost', port, method, headers, path: url.slice(path.length) };
    incoming.pipe(
      forward(options, (response) => {
        outgoing.writeHead(response.statusCode!, response.headers);
        response.pipe(outgoing);
      }),
    );
  });
  await new Promise<void>((resolve) => proxy.listen(proxyPort, 'localhost', resolve));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
}

const isForeign = (url: string) => (address: string) => !address.startsWith(url) && !address.startsWith('data:');

const openReference = async (page: Page, url: string) => {
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { name: 'Course Booking Service', level: 1 }).waitFor();
};

const openOperation = (page: Page, anchor: string) => page.goto(new URL(`#${anchor}`, page.url()).href);
const operation = (page: Page, method: string) => page.locator(`section[id$="${method}/v2/courses"]`);

const guidePages = readdirSync('docs').map((name) => `/${name.replace(/\.md$/, '')}`);

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  async function open(options?: BrowserContextOptions) {
    const opened = await openPage(browser, options);
    onTestFinished(() => opened.context.close());
    return opened;
  }

  test.each(['light', 'dark'] as const)(
    'the reference and the guides have no accessibility violations, errors or foreign requests: %s',
    async (colorScheme) => {
      const url = await startServer();
      const { page, complaints, requested } = await open({ colorScheme });
      const found: Record<string, unknown> = {};
      const clean: Record<string, unknown> = {};
      async function look(name: string) {
        for (const [device, width] of Object.entries(widths)) {
          await page.setViewportSize({ width, height: 800 });
          const file = `${name}-${colorScheme}-${device}`;
          // The whole reference is too long for a screenshot.
          if (name === 'reference') await page.screenshot({ path: `test/output/screenshots/${file}.png` });
          else await saveScreenshot(page, file);
          found[`${name} on ${device}`] = [await horizontalOverflow(page), await accessibilityViolations(page)];
          clean[`${name} on ${device}`] = [0, []];
        }
      }
      await openReference(page, url);
      await look('reference');
      // Dark mode differs by colours only.
      for (const name of colorScheme === 'light' ? ['', '/requests', '/codes', '/performance'] : ['', '/codes']) {
        await page.goto(`${url}/docs/guides${name}`);
        await look(`guides${name.replace('/', '-')}`);
      }
      expect(found).toEqual(clean);
      expect(complaints).toEqual([]);
      expect(requested.filter(isForeign(url))).toEqual([]);
    },
    // The reference is large: axe takes a minute for it on a busy machine.
    300_000,
  );

  test('every guide has no accessibility violations, errors, foreign requests or horizontal overflow', async () => {
    const url = await startServer();
    const { page, complaints, requested } = await open({ viewport: { width: widths.phone, height: 800 } });
    const found: Record<string, unknown> = {};
    for (const name of guidePages) {
      await page.goto(`${url}/docs/guides${name}`);
      found[name] = [await horizontalOverflow(page), await accessibilityViolations(page)];
    }
    expect(guidePages.length).toBeGreaterThan(30);
    expect(found).toEqual(Object.fromEntries(guidePages.map((name) => [name, [0, []]])));
    expect(complaints).toEqual([]);
    expect(requested.filter(isForeign(url))).toEqual([]);
  }, 300_000);

  /** Text of the code samples, by language and method. */
  const samples = {
    PHP: { GET: /curl_init\(/, POST: /CURLOPT_POST, true/ },
    JavaScript: { GET: /fetch\(/, POST: /method: ['"]POST['"]/ },
    Python: { GET: /requests\.get\(/, POST: /requests\.post\(/ },
    Shell: { GET: /curl /, POST: /--request POST/ },
  };

  test('operations have code samples in curl, PHP, JavaScript and Python', async () => {
    const url = await startServer();
    const { page } = await open();
    await openReference(page, url);
    for (const [language, methods] of Object.entries(samples)) {
      await page.getByRole('tab', { name: language }).click();
      for (const [method, text] of Object.entries(methods)) {
        await openOperation(page, `tag/courses/${method}/v2/courses`);
        const sample = operation(page, method).locator('pre', { hasText: text });
        await sample
          .filter({ hasText: `${url}/v2/courses` })
          .first()
          .waitFor({ state: 'attached' });
      }
    }
  });

  describe('with the demo data', () => {
    const key = newApiKey();
    let database: string;
    beforeAll(async () => {
      database = await ownDatabase(afterAll);
      const loading = openTestDatabase(database);
      await loadDemo(loading, settings, () => key);
      await loading.close();
    });

    test.each([
      { path: '', device: 'desk', method: 'POST', status: 201 },
      { path: '', device: 'phone', method: 'GET', status: 200 },
      { path: '/booking', device: 'desk', method: 'GET', status: 200 },
    ] as const)(
      'the reference can try an operation with the demo key: base path $path, $device, $method',
      async ({ path, device, method, status }) => {
        const url = await startServer({ path, database });
        const viewport = { width: widths[device], height: 800 };
        const { page, complaints, requested } = await open({ viewport });
        await openReference(page, url);
        await page.locator('.scalar-password-input').first().fill(key);
        await openOperation(page, `tag/courses/${method}/v2/courses`);
        await operation(page, method).getByRole('button', { name: 'Test Request' }).click();
        const [response] = await Promise.all([
          page.waitForResponse((response) => response.url().startsWith(`${url}/v2/`)),
          page.getByRole('dialog').getByRole('button', { name: /^Send/ }).first().click(),
        ]);
        expect([response.url().split('?')[0], response.request().method()]).toEqual([`${url}/v2/courses`, method]);
        expect(response.status()).toBe(status);
        if (method === 'GET') expect(((await response.json()) as object[]).length).toBeGreaterThanOrEqual(40);
        await saveScreenshot(page, `reference-request-${widths[device]}`);
        expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(key);
        expect(complaints).toEqual([]);
        expect(requested.filter(isForeign(url))).toEqual([]);
      },
    );
  });

  test('search finds an operation by its description', async () => {
    const url = await startServer();
    const { page } = await open();
    await openReference(page, url);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('waiting list');
    await page.getByRole('option', { name: /Book a course date/ }).click();
    await page.waitForURL(/#.*booking/);
  });
});
