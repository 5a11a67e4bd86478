import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { accessibilityViolations, browserOfFile, chromiumPath, saveScreenshot } from '../../support/browser.ts';
import { addDate, addLocation } from '../../support/dates.ts';
import { blocksOf } from '../../support/documented-samples.ts';
import { freePort } from '../../support/ports.ts';
import { openTestApp, openTestDatabase, settings } from '../../support/test-app.ts';
import { openCatalog } from '../../support/catalog.ts';

const evil = '<img src=x onerror=alert(1)> Knots';

/** A service with a school of seven dates, and its catalog. */
async function startSchool() {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {
    settings: { ...settings, publicUrl: origin },
  });
  onTestFinished(() => testApp.close());
  await testApp.app.listen({ port, host: 'localhost' });
  const me = await testApp.createProvider('Fjord school');
  const locationId = await addLocation(me, { title: 'Brygga', city: 'Bergen' });
  const knots = await me.course({ title: evil, price_value: 1250 });
  const times = { startTimeAt: '09:00', endTimeAt: '15:00', locationId };
  const dateId = await addDate(me, knots, { startAt: '2030-06-10', ...times, capacityMax: 3 });
  const soup = await me.course({
    title: 'Soup for a very large number of hungry guests in a small kitchen '.repeat(3),
  });
  for (let n = 1; n <= 6; n += 1) await addDate(me, soup, { startAt: `2030-07-0${n}`, endAt: '2030-07-08' });
  return { me, origin, dateId, ...(await openCatalog(testApp, me)) };
}

/** A page of another site, with the documented policy for the service beside `default-src 'none'`. */
async function startSite(origin: string, { head, body, merged }: { head: string; body: string; merged?: string }) {
  const own = head.includes('/site.css') ? `; style-src 'self'` : '';
  const documented = documentedPolicy().replaceAll('https://courses.example', origin);
  const scripts = merged === undefined ? documented : documented.replace('script-src', `script-src 'self'`);
  const policy = `default-src 'none'; ${scripts}${own}`;
  const [style] = blocksOf('docs/guides/embed.md', 'css');
  const server = createServer((request, response) => {
    if (request.url === '/site.css') {
      response.writeHead(200, { 'content-type': 'text/css' }).end(style);
      return;
    }
    if (request.url === '/cache/merged.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(merged);
      return;
    }
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
    response
      .writeHead(200, headers)
      .end(
        `<!doctype html><html lang="en"><head><title>Site</title>${head}</head><body><main><h1>Site</h1>${body}<p id="after">Below</p></main></body></html>`,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const documentedPolicy = () => {
  const [policy] = blocksOf('docs/guides/embed.md', 'text').filter((block) => block.includes('script-src'));
  return policy!.trim();
};

const top = async (page: Page) => (await page.locator('#after').boundingBox())!.y;
/** The members of an element that a script of the page calls; the tests have no types of the DOM. */
type Attributes = { setAttribute(name: string, value: string): void; removeAttribute(name: string): void };
const rows = (page: Page) => page.locator('course-dates li').allInnerTexts();

/** The sum of layout shifts since the page was opened. */
const layoutShift = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) =>
          resolve(list.getEntries().reduce((sum, entry) => sum + (entry as unknown as { value: number }).value, 0)),
        );
        observer.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(0), 500);
      }),
  );

describe.skipIf(chromiumPath === undefined)('<course-dates> in Chromium', () => {
  const browser = browserOfFile();

  test('shows dates on a page of another origin under a strict policy, without cookies', async () => {
    const { origin, slug, dateId, url } = await startSchool();
    const script = `<script src="${origin}/catalog/course-dates.js"></script>`;
    const site = await startSite(origin, {
      head: script,
      body: `<course-dates school="${slug}" limit="3"></course-dates>`,
    });
    const { page, context, complaints, requested } = await browser.open({ timezoneId: 'America/New_York' });
    await context.addCookies([{ name: 'other', value: '1', url: origin }]);
    const sent: Record<string, string>[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/dates.json')) sent.push(request.headers());
    });
    await page.goto(site);
    await expect.poll(() => rows(page)).toHaveLength(3);
    const [first, second] = await rows(page);
    expect(first!.split('\n')).toEqual([
      evil,
      // The visitor is in another zone.
      'Mon, 10 Jun 2030, 09:00–15:00 (Europe/Oslo)',
      'Bergen · NOK\u00a01,250.00 · 3 places left',
    ]);
    expect(second).toContain('Mon, 1 Jul 2030 – Mon, 8 Jul 2030');
    expect(await page.locator('course-dates img').count()).toBe(0);
    const links = page.locator('course-dates a');
    expect(await links.first().getAttribute('href')).toMatch(new RegExp(`/dates/[a-z0-9-]+-${dateId}\\?lang=en$`));
    expect(await links.last().getAttribute('href')).toBe(`${origin}${new URL(url).pathname}?lang=en`);
    expect(sent.map(({ cookie }) => cookie)).toEqual([undefined]);
    const paths = requested.map((address) => new URL(address).pathname);
    expect(paths).toEqual(['/', '/catalog/course-dates.js', `/catalog/${slug}/dates.json`]);
    expect(complaints).toEqual([]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await links.first().focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(`document.activeElement.shadowRoot.activeElement.textContent`)).toContain('Soup');
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      await saveScreenshot(page, `embed-${width}`);
    }
    await links.first().click();
    expect(await page.locator('h1').innerText()).toBe(evil);
  });

  test.each([
    ['a script in the head', (origin: string) => `<script src="${origin}/catalog/course-dates.js"></script>`],
    [
      'a late script, with the documented style',
      (origin: string) =>
        `<link rel="stylesheet" href="/site.css"><script src="${origin}/catalog/course-dates.js" async></script>`,
    ],
  ])('nothing moves while the dates are loaded: %s', async (_name, toHead) => {
    const { origin, slug } = await startSchool();
    const site = await startSite(origin, {
      head: toHead(origin),
      body: `<course-dates school="${slug}"></course-dates>`,
    });
    const { page, context } = await browser.open();
    const waiting: (() => void)[] = [];
    const hold = async (path: string) => {
      const released = new Promise<void>((resolve) => waiting.push(resolve));
      await context.route(path, async (route) => {
        await released;
        await route.continue();
      });
    };
    const isLate = toHead(origin).includes('async');
    if (isLate) await hold('**/course-dates.js');
    await hold('**/dates.json*');
    await page.goto(site, { waitUntil: 'commit' });
    await page.locator('#after').waitFor();
    const before = await top(page);
    expect(before).toBeGreaterThan(400);
    for (const release of waiting) {
      release();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await expect.poll(() => rows(page)).toHaveLength(5);
    expect(await top(page)).toBe(before);
    expect(await layoutShift(page)).toBe(0);
  });

  test('attributes choose the language, the topic and the school; errors lead to the catalog', async () => {
    const { me, origin, slug, base } = await startSchool();
    const tag = (await me.post('/v2/course-tags', { title: 'Sea' })).json<{ id: number }>();
    const course = await me.course({ title: 'Sailing', price_value: 0, tags: [tag.id] });
    await addDate(me, course, {
      startAt: '2030-08-01',
      isVirtual: true,
      capacityMax: 1,
      capacityWait: 5,
      numConfirmed: 1,
    });
    const head = `<script src="${origin}/catalog/course-dates.js" async></script>`;
    const body = `<course-dates src="${origin}${base}/" lang="nb" tag="sea"></course-dates>`;
    const { page, complaints } = await browser.open();
    const warnings: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'warning') warnings.push(message.text());
    });
    await page.goto(await startSite(origin, { head, body }));
    await expect.poll(() => rows(page)).toHaveLength(1);
    const title = `document.querySelector('course-dates').shadowRoot.querySelector('strong')`;
    expect(await page.evaluate(`getComputedStyle(${title}).textDecorationLine`)).toBe('underline');
    expect((await rows(page))[0]!.split('\n').at(-1)).toBe('På nett · Gratis · Venteliste');
    const element = page.locator('course-dates');
    const set = (name: string, value: string) =>
      element.evaluate((one, [key, text]) => (one as unknown as Attributes).setAttribute(key, text), [
        name,
        value,
      ] as const);
    await set('tag', 'none');
    await expect
      .poll(() => page.locator('course-dates p').innerText())
      .toBe('Det er ingen kommende kurs for øyeblikket. Alle kurs');
    await set('lang', 'en');
    await set('src', `${origin}/catalog/unknown-school`);
    await expect
      .poll(() => page.locator('course-dates p').innerText())
      .toBe('The dates could not be loaded. All courses');
    expect(await page.locator('course-dates a').getAttribute('href')).toBe(`${origin}/catalog/unknown-school?lang=en`);
    expect(warnings).toEqual([`course-dates: ${origin}/catalog/unknown-school responded 404`]);
    await element.evaluate((one) => (one as unknown as Attributes).removeAttribute('src'));
    await expect.poll(() => warnings.at(-1)).toBe('course-dates: the element has neither school nor src');
    await set('tag', '');
    await set('school', slug);
    await expect.poll(() => rows(page)).toHaveLength(5);
    expect(complaints).toEqual([]);
  });

  test.each(['a module', 'a merged file', 'a copy from the source code'])(
    '`school` in a script that is %s',
    async (kind) => {
      const { origin, slug } = await startSchool();
      const address = `${origin}/catalog/course-dates.js`;
      const source = readFileSync('src/plugins/pages/catalog/embed/course-dates.js', 'utf8');
      const isCopy = kind === 'a copy from the source code';
      const merged = `globalThis.first = 1;\n${isCopy ? source : await (await fetch(address)).text()}`;
      const head =
        kind === 'a module'
          ? `<script type="module" src="${address}" crossorigin></script>`
          : '<script src="/cache/merged.js"></script>';
      const body = `<course-dates school="${slug}"></course-dates>`;
      const { page } = await browser.open();
      const warnings: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'warning') warnings.push(message.text());
      });
      await page.goto(await startSite(origin, { head, body, merged }));
      if (isCopy) {
        const text = 'course-dates: the address of the service is not known: use src instead of school';
        await expect.poll(() => warnings).toEqual([text]);
        expect(await page.locator('course-dates p').innerText()).toBe('The dates could not be loaded.');
      } else {
        await expect.poll(() => rows(page)).toHaveLength(5);
        expect(warnings).toEqual([]);
      }
    },
  );

  test.each(['?lang=no', '#content', '/?lang=no#content', '/', '?', '  '])(
    'the query and the fragment of src are cut off: %j',
    async (end) => {
      const { origin, base } = await startSchool();
      const head = `<script src="${origin}/catalog/course-dates.js"></script>`;
      const { page, requested } = await browser.open();
      const body = `<course-dates src="${origin}${base}${end}"></course-dates>`;
      await page.goto(await startSite(origin, { head, body }));
      await expect.poll(() => rows(page)).toHaveLength(5);
      expect(requested.at(-1)).toBe(`${origin}${base}/dates.json?lang=en&limit=5`);
      expect(await page.locator('course-dates a').last().getAttribute('href')).toBe(`${origin}${base}?lang=en`);
    },
  );

  test.each([
    ['nb_NO', 'no'],
    ['nn_NO', 'no'],
    ['no-NO', 'no'],
    ['NB', 'no'],
    ['nbx', 'en'],
    ['en_GB', 'en'],
  ])('lang="%s" of the page is %s', async (lang, shown) => {
    const { origin, slug } = await startSchool();
    const head = `<script src="${origin}/catalog/course-dates.js"></script>`;
    const { page, requested } = await browser.open();
    const body = `<div lang="${lang}"><course-dates school="${slug}"></course-dates></div>`;
    await page.goto(await startSite(origin, { head, body }));
    await expect.poll(() => rows(page)).toHaveLength(5);
    expect(new URL(requested.at(-1)!).searchParams.get('lang')).toBe(shown);
  });

  test('structured data on a page of the catalog violates no policy', async () => {
    const { base, origin } = await startSchool();
    const { page, complaints } = await browser.open();
    await page.addInitScript(`
      globalThis.violations = [];
      document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));
    `);
    await page.goto(`${origin}${base}`);
    const data = await page.locator('script[type="application/ld+json"]').textContent();
    expect(JSON.parse(data!)).toMatchObject({ '@type': 'ItemList' });
    await page.locator('.dates a').first().click();
    expect(await page.locator('script[type="application/ld+json"]').count()).toBe(1);
    expect([await page.evaluate('globalThis.violations'), complaints]).toEqual([[], []]);
  });
});
