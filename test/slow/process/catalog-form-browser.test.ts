import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createBookableDate, createVoucher } from '../../support/booking.ts';
import {
  accessibilityViolations,
  browserOfFile,
  chromiumPath,
  horizontalOverflow,
  saveScreenshot,
  screenshots,
} from '../../support/browser.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { sharedPort, sharedTestApp } from '../../support/test-app.ts';

const { open } = browserOfFile();
const views = [
  { width: 320, height: 700, colorScheme: 'light' as const },
  { width: 390, height: 844, colorScheme: 'dark' as const },
  { width: 1280, height: 900, colorScheme: 'light' as const },
];

test.runIf(chromiumPath).each(views)(
  'the form books without scripts, at $width px, $colorScheme',
  async ({ width, height, colorScheme }) => {
    mkdirSync(screenshots, { recursive: true });
    const { createProvider } = await sharedTestApp();
    const me = await createProvider('Øystese kurs');
    const urls = { terms_url: 'https://school.example/terms', privacy_url: 'https://school.example/privacy' };
    const fields = { date_of_birth: 'optional', position: 'optional' };
    const base = await switchCatalogOn(me, { ...urls, fields, withdrawal_text: 'You can withdraw for 14 days.' });
    const date = { course: { title: 'Knots', price_value: 1000 }, capacityMax: 1, capacityWait: 5 };
    const { dateId } = await createBookableDate(me, date);
    const { code } = await createVoucher(me, { amount: '300.00' });
    const { page, context } = await open({ viewport: { width, height }, colorScheme, javaScriptEnabled: false });
    const name = `form-${width}-${colorScheme}`;
    await page.goto(`http://127.0.0.1:${await sharedPort()}${base}/dates/knots-${dateId}/book`);
    await page.fill('#firstname_1', 'Kari');
    await page.click('button[value=add]');
    expect(await page.inputValue('#firstname_1')).toBe('Kari');
    await page.check('#kind_company');
    await page.fill('#voucher_code', code);
    await page.press('#voucher_code', 'Enter');
    expect(await page.textContent('.amounts')).toContain('Paid by voucher');
    await saveScreenshot(page, `${name}-price`);
    for (const [id, value] of Object.entries({
      ...{ lastname_1: 'Nordmann', email_1: 'kari@form.example', firstname_2: 'Ola', lastname_2: 'Nordmann' },
      ...{ email_2: 'ola@form.example', invoice_email: 'a@' },
    }))
      await page.fill(`#${id}`, value);
    await page.$eval('form.booking', (form) => form.setAttribute('novalidate', ''));
    await page.click('button[value=book]');
    expect(await page.title()).toContain('Error: ');
    await saveScreenshot(page, `${name}-errors`);
    await page.fill('#company', 'Fjord AS');
    await page.fill('#invoice_email', 'invoice@form.example');
    await page.click('button[value=book]');
    expect(await page.textContent('h1')).toBe('Thank you for your booking');
    const [sum, seller] = await page.$$eval('dl', (lists) =>
      lists.map((one) => getComputedStyle(one.querySelector('dd')!).textAlign),
    );
    expect([sum, seller]).toEqual(['right', 'start']);
    await saveScreenshot(page, `${name}-confirmation`);
    expect(await context.cookies()).toEqual([]);

    const second = await open({ viewport: { width, height }, colorScheme });
    for (const url of [`${base}/dates/knots-${dateId}/book`, new URL(page.url()).pathname]) {
      await second.page.goto(`http://127.0.0.1:${await sharedPort()}${url}`);
      expect(await accessibilityViolations(second.page)).toEqual([]);
      expect(await horizontalOverflow(second.page)).toBeLessThanOrEqual(0);
    }
    expect(second.complaints).toEqual([]);
  },
);
