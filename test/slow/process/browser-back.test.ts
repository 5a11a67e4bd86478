import type { AddressInfo } from 'node:net';
import { chromium, type Page } from 'playwright-core';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { browserOfFile, chromiumPath, saveScreenshot } from '../../support/browser.ts';
import { openFormSchool } from '../../support/form-school.ts';
import {
  limits,
  openTestDatabase,
  settings,
  sharedPort,
  sharedTestApp,
  type Provider,
} from '../../support/test-app.ts';
import { loadUnguarded } from '../../support/unguarded.ts';

const testApp = await sharedTestApp();

/** A browser as visitors have it: Playwright switches the back/forward cache off. */
const { open } = browserOfFile(() =>
  chromium.launch({
    executablePath: chromiumPath!,
    args: ['--disable-dev-shm-usage'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  }),
);

const bookersOf = async (me: Provider) => {
  const query = 'select booker_name as name from bookings where provider_id = $1 order by id';
  return (await testApp.database.pool.query<{ name: string }>(query, [me.id])).rows.map(({ name }) => name);
};

const thanks = 'Thank you for your booking';
const reused = 'This form has made a booking already, which stays as it is:';

async function openForm(port?: number) {
  const { me, url } = await openFormSchool(testApp);
  const { page } = await open();
  await page.addInitScript(`addEventListener('pageshow', ({ persisted }) => { globalThis.isRestored = persisted; });`);
  await page.goto(`http://127.0.0.1:${port ?? (await sharedPort())}${url}`);
  return { me, page };
}

async function fill(page: Page, name: string) {
  for (const [id, value] of [
    ['firstname_1', name],
    ['lastname_1', 'Nordmann'],
    ['email_1', `${name.toLowerCase()}@form.example`],
  ] as const)
    await page.fill(`#${id}`, value);
}
const click = (page: Page, action: string) => page.click(`button[value=${action}]:not(.unseen)`);
const goBack = (page: Page) => page.evaluate('void setTimeout(() => history.back())');
const title = (page: Page) => page.textContent('h1');

async function bookNext(me: Provider, page: Page) {
  await fill(page, 'Per');
  await click(page, 'book');
  await expect.poll(() => page.textContent('.errors')).toContain(reused);
  expect(await page.inputValue('#firstname_1')).toBe('Per');
  expect(await bookersOf(me)).toEqual(['Kari Nordmann']);
  await saveScreenshot(page, 'form-reused');
  await click(page, 'book');
  await expect.poll(() => title(page)).toBe(thanks);
  expect(await bookersOf(me)).toEqual(['Kari Nordmann', 'Per Nordmann']);
}

describe.skipIf(chromiumPath === undefined)('a form after a booking and Back in Chromium', () => {
  test('comes from the back/forward cache, leads to the booking, and books the next person', async () => {
    const { me, page } = await openForm();
    await fill(page, 'Kari');
    await click(page, 'book');
    await expect.poll(() => title(page)).toBe(thanks);
    for (const books of [false, true]) {
      await goBack(page);
      await expect.poll(() => page.inputValue('#firstname_1')).toBe('Kari');
      // Only the cache keeps the page, with its key.
      expect(await page.evaluate('globalThis.isRestored')).toBe(true);
      if (books) continue;
      await click(page, 'book');
      await expect.poll(() => title(page)).toBe(thanks);
      expect(await bookersOf(me)).toEqual(['Kari Nordmann']);
    }
    await bookNext(me, page);
  });

  test('control: without the comparison of its fields it confirms the first booking to the next person', async () => {
    const { buildApp } = await loadUnguarded(['formFields']);
    // With connections of its own: prepared statements have other texts.
    const database = openTestDatabase(inject('shared'));
    const app = await buildApp({ database, settings, version: 'test', limits });
    onTestFinished(async () => {
      await app.close();
      await database.close();
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { me, page } = await openForm((app.server.address() as AddressInfo).port);
    await fill(page, 'Kari');
    await click(page, 'book');
    await expect.poll(() => title(page)).toBe(thanks);
    await goBack(page);
    await expect.poll(() => page.inputValue('#firstname_1')).toBe('Kari');
    await fill(page, 'Per');
    await click(page, 'book');
    await expect.poll(() => title(page)).toBe(thanks);
    expect(await bookersOf(me)).toEqual(['Kari Nordmann']);
  });

  test('is the answer to "Update the price" after a reload, and books the next person', async () => {
    const { me, page } = await openForm();
    await fill(page, 'Kari');
    await click(page, 'check');
    await expect.poll(() => page.inputValue('#firstname_1')).toBe('Kari');
    await click(page, 'book');
    await expect.poll(() => title(page)).toBe(thanks);
    await goBack(page);
    // Chromium asks before it sends the fields of the form again.
    await expect.poll(() => page.url()).toMatch(/^chrome-error:/);
    await page.reload();
    await expect.poll(() => page.inputValue('#firstname_1')).toBe('Kari');
    await bookNext(me, page);
  });
});
