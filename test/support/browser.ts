import { mkdirSync } from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { chromiumPath } from './programs.ts';

export { chromiumPath };
if (chromiumPath === undefined) {
  console.warn(
    `\n*** SKIPPED: there is no Chromium, so no page was tested in a browser.\n*** Debian: apt-get install chromium\n`,
  );
}

export const launchBrowser = () =>
  chromium.launch({ executablePath: chromiumPath!, args: ['--disable-dev-shm-usage'] });

/** A new browser without cookies, closed after the test. */
export async function openBrowser() {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return { open: (options?: BrowserContextOptions) => openPage(browser, options) };
}

/** A page without the cookies of others, with the errors in its console and the addresses that it requests. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
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
  return { context, page, complaints, requested };
}

const folder = 'test/output/screenshots';
export async function saveScreenshot(page: Page, name: string) {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Violations that axe finds on a page, best practices included. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.map(({ id, impact, nodes }) => `${impact ?? ''} ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Pixels by which a page is wider than its window. */
export const horizontalOverflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - innerWidth');
