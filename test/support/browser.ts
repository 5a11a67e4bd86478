import axe, { type RunOptions } from 'axe-core';
import { existsSync } from 'node:fs';
import {
  chromium,
  firefox,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { chromiumPath } from './programs.ts';

export { chromiumPath };
if (chromiumPath === undefined) {
  console.warn(
    `\n*** SKIPPED: there is no Chromium, so no page was tested in a browser.\n*** Debian: apt-get install chromium\n`,
  );
}

export const launchBrowser = () =>
  chromium.launch({ executablePath: chromiumPath!, args: ['--disable-dev-shm-usage'] });

/** The build of Firefox that `npx playwright-core install firefox` installs; Playwright drives no other. */
export const hasFirefox = existsSync(firefox.executablePath());
export const launchFirefox = () => firefox.launch();

/** A browser for the tests of a file. Each page that it opens has cookies of its own and is closed after its test. */
export function browserOfFile(launch = launchBrowser) {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  async function open(options?: BrowserContextOptions) {
    const opened = await openPage(browser, options);
    onTestFinished(() => opened.context.close());
    return opened;
  }
  return { open };
}

async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  return { context, ...(await watchPage(context)) };
}

/** A page in a context that others may use too, with the errors in its console and the addresses that it requests. */
export async function watchPage(context: BrowserContext) {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Browsers log every response of 400 and above.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  return { page, complaints, requested };
}

export const screenshots = 'test/output/screenshots';
export async function saveScreenshot(page: Page, name: string) {
  await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}

/** Violations that axe finds in a part of a page, best practices included; the contrast takes half of the time. */
export async function accessibilityViolations(
  page: Page,
  { part = 'html', contrast = true, targetSize = false } = {},
): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe.source);
  const run = ({ selector, options }: { selector: string; options: RunOptions }) =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(selector, options);
  // Without this axe describes every element that passes, which takes most of its time.
  const rules = { 'color-contrast': { enabled: contrast }, 'target-size': { enabled: targetSize } };
  const options: RunOptions = { resultTypes: ['violations'], rules };
  const { violations } = await page.evaluate(run, { selector: part, options });
  return violations.map(({ id, impact, nodes }) => `${impact ?? ''} ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Pixels by which a page is wider than its window. */
export const horizontalOverflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

/** Saves a page in three widths and collects its faults in `found`; `clean` is what pages without faults have. */
export function lookAt(page: Page, suffix: string) {
  const found: Record<string, unknown> = {};
  const clean: Record<string, unknown> = {};
  async function look(name: string) {
    for (const [device, width] of Object.entries({ narrow: 320, phone: 390, desk: 1280 })) {
      await page.setViewportSize({ width, height: 800 });
      if (width > 320) await saveScreenshot(page, `${name}-${suffix}-${device}`);
      found[`${name} on ${device}`] = [
        await horizontalOverflow(page),
        width > 320 ? await accessibilityViolations(page, { targetSize: true }) : [],
      ];
      clean[`${name} on ${device}`] = [0, []];
    }
  }
  return { look, found, clean };
}

/** Controls that the Tab key does not reach, or that have no outline then. */
export async function listFocusFaults(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(`(() => {
    const isControl = (one) =>
      one.tabIndex >= 0 && one.type !== 'hidden' && (one.type !== 'radio' || one.checked) && one.checkVisibility();
    const all = document.querySelectorAll('a[href], button, input, select, textarea');
    globalThis.withoutOutline = new Set([...all].filter(isControl));
    return withoutOutline.size;
  })()`);
  const markFocused = `(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    if (outlineStyle === 'solid' && parseFloat(outlineWidth) >= 2) withoutOutline.delete(document.activeElement);
  })()`;
  // Once more than there are controls: the order may start anywhere.
  for (let n = 0; n <= count; n += 1) {
    await page.keyboard.press('Tab');
    await page.evaluate(markFocused);
  }
  return page.evaluate<string[]>('[...withoutOutline].map((one) => one.outerHTML)');
}
