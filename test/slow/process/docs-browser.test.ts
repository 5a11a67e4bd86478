import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  accessibilityViolations,
  chromiumPath,
  saveScreenshot,
  launchBrowser,
  screenshots,
  horizontalOverflow,
  watchPage,
} from '../../support/browser.ts';
import { demoDatabase } from '../../support/demo-database.ts';
import { docsPages, pageName } from '../../support/docs-pages.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { freePort } from '../../support/ports.ts';
import { openTestDatabase, openTestApp, settings } from '../../support/test-app.ts';

const widths = { phone: 390, desk: 1280 };

/** A server that a browser can reach at `path`, below which a proxy removes it. */
async function startServer(database: string, path: string, whenDone: (work: () => Promise<void>) => void) {
  const [port, proxyPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${path ? proxyPort : port}${path}`;
  const testApp = await openTestApp(openTestDatabase(database), { settings: { ...settings, publicUrl: url } });
  whenDone(() => testApp.close());
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

type Operation = { tags: [string] };

/** The operations of the reference's document, with the end of their sections' ids. */
async function loadOperations(url: string) {
  const response = await fetch(`${url}/docs/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { tags }]) => {
      const tag = tags[0].toLowerCase().replaceAll(' ', '-');
      return { anchor: `tag/${tag}/${method.toUpperCase()}${path}` };
    }),
  );
}

/** Without schemas and responses, which no sample depends on, all operations are rendered in seconds. */
const withoutSchemas = async (route: Route) => {
  const document = (await (await route.fetch()).json()) as { paths: object; components: object };
  const toSmall = (key: string, value: unknown) =>
    key === 'responses' || key === 'schemas' ? {} : key === 'content' ? withoutSchema(value as Contents) : value;
  return route.fulfill({ body: JSON.stringify(document, toSmall) });
};
type Contents = Record<string, { schema: object }>;
const withoutSchema = (contents: Contents) =>
  Object.fromEntries(Object.entries(contents).map(([type, content]) => [type, { ...content, schema: {} }]));

/**
 * Opens each group of operations in a window that shows all of the group, since only what is near it is rendered, and
 * then each operation that is not rendered yet.
 */
async function renderOperations(page: Page, anchors: string[]) {
  await page.setViewportSize({ width: widths.desk, height: 12_000 });
  const groups = new Map(anchors.map((anchor) => [anchor.split('/')[1], anchor]));
  for (const anchor of [...groups.values(), ...anchors]) {
    const sample = page.locator(`section[id$="${anchor}"] pre`).first();
    if ((await sample.count()) > 0) continue;
    await page.evaluate(`location.hash = ${JSON.stringify(anchor)}`);
    await sample.waitFor({ state: 'attached' });
  }
  await expect.poll(async () => (await readSamples(page)).length).toBe(anchors.length);
}

/** The code sample of each operation that is rendered. */
const readSamples = (page: Page) =>
  page
    .locator('section[id*="/tag/"]:not([id*="/webhook/"]):has(pre)')
    .evaluateAll((sections) => sections.map((section) => section.querySelector('pre')!.textContent.trim()));

/** Languages of samples, and programs that parse all files of a folder without running them. */
const parsers = [
  { tab: 'Shell', program: 'bash', sample: /^curl /, parse: 'for file in *; do bash -n "$file" || exit 1; done' },
  {
    tab: 'PHP',
    program: 'php',
    sample: /curl_init\(/,
    parse: `php -r 'foreach (glob("*") as $file) token_get_all(file_get_contents($file), TOKEN_PARSE);'`,
  },
  { tab: 'Python', program: 'python3', sample: /^requests\.(get|post|put|delete)\(/, parse: 'python3 -m py_compile *' },
  {
    tab: 'JavaScript',
    program: 'node',
    sample: /^fetch\(/,
    parse: `node -e 'for (const f of fs.readdirSync(".")) new Function(fs.readFileSync(f, "utf8"))'`,
  },
];

const guidePages = docsPages.map((page) => `/${pageName(page)}`);

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser;
  let context: BrowserContext;
  let url: string;
  let demo: { name: string; key: string };
  // One server and one context, since a browser compiles the script of the reference, of 5 MB, once for each.
  beforeAll(async () => {
    demo = await demoDatabase(afterAll);
    url = await startServer(demo.name, '', afterAll);
    browser = await launchBrowser();
    context = await browser.newContext({ locale: 'en-GB' });
  });
  afterAll(() => browser.close());

  type Media = { colorScheme?: 'light' | 'dark'; width?: number };
  /** A page that finds nothing stored by another. */
  async function open({ colorScheme = 'light', width = widths.desk }: Media = {}) {
    const opened = await watchPage(context);
    const { page, complaints } = opened;
    // The status of an API call is shown in the page; anything else must load.
    page.on('response', (response) => {
      if (response.status() >= 400 && !new URL(response.url()).pathname.includes('/v2/'))
        complaints.push(`${response.status()} ${response.url()}`);
    });
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    onTestFinished(async () => {
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      await page.close();
    });
    return opened;
  }

  test.each(['light', 'dark'] as const)(
    'the reference and the guides have no accessibility violations, errors or foreign requests: %s',
    async (colorScheme) => {
      const { page, complaints, requested } = await open({ colorScheme });
      const found: Record<string, unknown> = {};
      const clean: Record<string, unknown> = {};
      async function look(name: string) {
        for (const [device, width] of Object.entries(widths)) {
          await page.setViewportSize({ width, height: 800 });
          const file = `${name}-${colorScheme}-${device}`;
          // The whole reference is too long for a screenshot.
          if (name === 'reference') await page.screenshot({ path: `${screenshots}/${file}.png` });
          else await saveScreenshot(page, file);
          found[`${name} on ${device}`] = [await horizontalOverflow(page), await accessibilityViolations(page)];
          clean[`${name} on ${device}`] = [0, []];
        }
      }
      await openReference(page, url);
      expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`);
      await look('reference');
      // The tests of requests examine the dialog in light mode.
      if (colorScheme === 'dark') {
        await openOperation(page, 'tag/courses/GET/v2/courses');
        const button = operation(page, 'GET').getByRole('button', { name: 'Test Request' });
        await button.waitFor();
        const section = { part: 'section[id$="GET/v2/courses"]' };
        expect(await accessibilityViolations(page, section)).toEqual([]);
        await button.click();
        await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).first().waitFor();
        expect(await accessibilityViolations(page, { part: '[role=dialog]' })).toEqual([]);
      }
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
    const { page, complaints, requested } = await open({ width: widths.phone });
    const found: Record<string, unknown> = {};
    for (const name of guidePages) {
      await page.goto(`${url}/docs/guides${name}`);
      // All guides have the style sheet whose contrast the test above examines.
      found[name] = [await horizontalOverflow(page), await accessibilityViolations(page, { contrast: false })];
    }
    expect(guidePages.length).toBeGreaterThan(30);
    expect(found).toEqual(Object.fromEntries(guidePages.map((name) => [name, [0, []]])));
    expect(complaints).toEqual([]);
    expect(requested.filter(isForeign(url))).toEqual([]);
  }, 300_000);

  test.each(Object.entries(widths))(
    'a guide can be found from the menu and its code copied: %s',
    async (device, width) => {
      const { page, complaints } = await open({ width });
      await page.goto(`${url}/docs/guides/requests`);
      const menu = page.getByRole('button', { name: 'Menu' });
      const search = page.getByRole('searchbox');
      expect([await menu.isVisible(), await search.isVisible()]).toEqual([device === 'phone', device === 'desk']);
      if (device === 'phone') await menu.click();
      await search.fill('WAITING  list');
      const result = page.getByRole('link', { name: 'Endpoints: orders and bookings: Waiting list' });
      await result.waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await saveScreenshot(page, `guides-search-${device}`);
      await search.fill('xyzzy');
      await page.getByText('Nothing found').waitFor();
      await search.fill('waiting list');
      await result.click();
      await page.waitForURL(/endpoints-booking#waiting-list$/);

      await page.goto(`${url}/docs/guides/requests`);
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
      const code = page.locator('.code').first();
      await code.hover();
      await code.getByRole('button', { name: 'Copy' }).click();
      await code.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await code.locator('pre').textContent());
      expect(complaints).toEqual([]);
    },
  );

  test('code blocks use the width of the window before they scroll', async () => {
    const { page } = await open({ width: 1600 });
    await page.goto(`${url}/docs/guides/requests`);
    const scrolled = await page
      .locator('pre')
      .evaluateAll((blocks) => blocks.filter((block) => block.scrollWidth > block.clientWidth).length);
    expect(scrolled).toBe(0);
  });

  test('the key field of the reference has a placeholder of its own', async () => {
    const { page } = await open();
    await openReference(page, url);
    const field = page.locator('.scalar-password-input').first();
    await expect.poll(() => field.getAttribute('placeholder')).toBe('Your API key');
  });

  test('search finds an operation by its description', async () => {
    const { page } = await open();
    await openReference(page, url);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('waiting list');
    await page.getByRole('option', { name: /Book a course date/ }).click();
    await page.waitForURL(/#.*booking/);
  });

  test('every operation has code samples in curl, PHP, Python and JavaScript, which can be copied', async () => {
    const { page } = await open();
    await page.route('**/docs/openapi.json', withoutSchemas);
    await openReference(page, url);
    const operations = await loadOperations(url);
    expect(operations.length).toBeGreaterThan(55);
    await renderOperations(
      page,
      operations.map(({ anchor }) => anchor),
    );
    for (const { tab, program, sample, parse } of parsers) {
      await page.getByRole('tab', { name: tab }).click();
      await expect.poll(async () => (await readSamples(page)).filter((text) => !sample.test(text))).toEqual([]);
      const folder = temporaryFolder();
      const samples = await readSamples(page);
      for (const [n, text] of samples.entries())
        writeFileSync(join(folder, `sample${n}.mjs`), tab === 'PHP' ? `<?php\n${text}` : text);
      expect(samples.filter((text) => !text.includes(url))).toEqual([]);
      if (succeeds(`command -v ${program}`))
        expect(spawnSync('sh', ['-c', parse], { cwd: folder, encoding: 'utf8' }).stderr, tab).toBe('');
      else console.log(`The samples in ${tab} are not parsed: ${program} is not installed`);
    }
    const first = page.locator(`section[id$="${operations[0]!.anchor}"]`);
    const shown = (await first.locator('pre').first().textContent())!.trim();

    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
    await first.locator('button[aria-label^=Copy][aria-controls]').first().click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(shown);
  }, 300_000);

  test.each([
    { path: '', device: 'desk', method: 'POST', status: 201 },
    { path: '', device: 'phone', method: 'GET', status: 200 },
    { path: '/booking', device: 'desk', method: 'GET', status: 200 },
  ] as const)(
    'the reference can try an operation with the demo key: base path $path, $device, $method',
    async ({ path, device, method, status }) => {
      const base = path === '' ? url : await startServer(demo.name, path, onTestFinished);
      const { page, complaints, requested } = await open({ width: widths[device] });
      await openReference(page, base);
      await page.locator('.scalar-password-input').first().fill(demo.key);
      await openOperation(page, `tag/courses/${method}/v2/courses`);
      await operation(page, method).getByRole('button', { name: 'Test Request' }).click();
      const [response] = await Promise.all([
        page.waitForResponse((response) => response.url().startsWith(`${base}/v2/`)),
        page.getByRole('dialog').getByRole('button', { name: /^Send/ }).first().click(),
      ]);
      expect([response.url().split('?')[0], response.request().method()]).toEqual([`${base}/v2/courses`, method]);
      expect(response.status()).toBe(status);
      if (method === 'GET') expect(((await response.json()) as object[]).length).toBeGreaterThanOrEqual(40);
      // Of one case only: with an open dialog a screenshot takes seconds.
      if (device === 'phone') await page.screenshot({ path: `${screenshots}/reference-request.png` });
      if (path === '') expect(await accessibilityViolations(page, { part: '[role=dialog]' })).toEqual([]);
      expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(demo.key);
      expect(complaints).toEqual([]);
      expect(requested.filter(isForeign(base))).toEqual([]);
      const content = page.locator('main[inert], .bar[inert]');
      expect(await content.count()).toBe(2);
      await page.getByRole('button', { name: 'Close Client' }).first().click();
      await expect.poll(() => content.count()).toBe(0);
    },
  );
});
