import type { Page } from 'playwright-core';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { contrast } from '../../../src/plugins/pages/catalog/theme.ts';
import { bookOrFail, createBookableDate, createVoucher } from '../../support/booking.ts';
import {
  accessibilityViolations,
  browserOfFile,
  chromiumPath,
  hasFirefox,
  horizontalOverflow,
  launchBrowser,
  launchFirefox,
  listFocusFaults,
  saveScreenshot,
} from '../../support/browser.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { addDate, addGathering, addLocation } from '../../support/dates.ts';
import { freePort } from '../../support/ports.ts';
import { openTestApp, openTestDatabase, settings } from '../../support/test-app.ts';

if (!hasFirefox) console.warn('\n*** SKIPPED: no Firefox is installed, so the catalog was tested in Chromium alone.\n');

const longWord = 'Arbeidsmiljøopplæringsforskriftskursgjennomføringsveiledningen';

/** A server for a browser, and a catalog with a date in Bergen, a full one in Oslo, and one with a long title. */
async function startSchool(theme: object = {}) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {
    settings: { ...settings, publicUrl: origin },
  });
  onTestFinished(() => testApp.close());
  await testApp.app.listen({ port, host: 'localhost' });
  const me = await testApp.createProvider('Fjord School of Boats, Knots and Cooking');
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const terms = { terms_url: 'https://school.example/terms', privacy_url: 'https://school.example/privacy' };
  const base = await switchCatalogOn(me, { theme, ...terms });
  const bergen = await addLocation(me, { title: 'The old boathouse', address: 'Bryggen 1', city: 'Bergen' });
  const oslo = await addLocation(me, { title: 'Quay 3', city: 'Oslo' });
  const open = (title: string, date: Parameters<typeof addDate>[2]) =>
    createBookableDate(me, { course: { title, price_value: 1000, text_lead: `<p>${title}.</p>` }, ...date });
  const knots = await open('Knots for beginners', { startAt: '2030-06-10', locationId: bergen, capacityMax: 12 });
  const full = await open('Knots at sea', {
    startAt: '2030-07-01',
    ...{ locationId: oslo, capacityMax: 1, capacityWait: 5 },
  });
  await bookOrFail(me, full.dateId);
  const long = await open(longWord, { startAt: '2030-08-01', locationId: bergen });
  await addGathering(me, long.dateId);
  const gone = await addDate(me, knots.courseId, { startAt: '2020-01-01', visibleWhenPassedDeadline: false });
  const awaited = await me.course({ title: 'Knots in winter' });
  return { me, origin, start: `${origin}${base}?lang=en`, base: `${origin}${base}`, long, gone, awaited };
}

const heading = (page: Page) => page.locator('h1').innerText();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

async function openForm(page: Page, start: string, { place, title }: { place: string; title: string }) {
  await page.goto(start);
  await page.getByLabel('Title or topic').fill('knots');
  await page.getByLabel('Place', { exact: true }).selectOption({ label: place });
  await button(page, 'Search').click();
  expect(await page.getByRole('status').innerText()).toBe('One date Show all');
  await link(page, title).click();
  expect(await heading(page)).toBe(title);
}

async function fillPerson(page: Page, n: number, firstname: string) {
  const person = page.getByRole('group', { name: `Participant ${n}` });
  await person.getByLabel('First name').fill(firstname);
  await person.getByLabel('Last name').fill('Nordmann');
  await person.getByLabel('E-mail').fill(`${firstname}@form.example`.toLowerCase());
}

type Look = (name: string) => Promise<void>;
type School = Awaited<ReturnType<typeof startSchool>>;
const knotsInBergen = { place: 'Bergen', title: 'Knots for beginners' };

async function bookOne(page: Page, { start }: School, look: Look) {
  await page.goto(start);
  await look('start');
  await openForm(page, start, knotsInBergen);
  await look('date');
  await link(page, 'Book').click();
  await look('form');
  await fillPerson(page, 1, 'Kari');
  await button(page, 'Book with obligation to pay').click();
  expect(await heading(page)).toBe('Thank you for your booking');
  expect(await page.getByRole('main').innerText()).toContain('Kari Nordmann: Has a place');
  await look('confirmation');
}

async function cancelAsPayer(page: Page, look: Look) {
  await link(page, 'See your booking').click();
  expect(await heading(page)).toBe('Your booking');
  await look('payer');
  await page.getByRole('link', { name: 'Kari Nordmann' }).click();
  await button(page, 'Cancel the place').click();
  expect(await heading(page)).toBe('The place is canceled');
  await link(page, 'Back to the booking').click();
  expect(await page.getByRole('listitem').first().innerText()).toMatch(/^Kari Nordmann\s+Deregistered$/);
}

async function bookTwoWithVoucher(page: Page, { me, start }: School, look: Look) {
  const { code } = await createVoucher(me, { amount: '300.00' });
  await openForm(page, start, knotsInBergen);
  await link(page, 'Book').click();
  await fillPerson(page, 1, 'Siri');
  await button(page, 'Add a person').click();
  await fillPerson(page, 2, 'Ola');
  await page.getByLabel('Voucher code').fill(code);
  await button(page, 'Update the price').click();
  expect(await page.locator('.amounts').innerText()).toMatch(
    /Paid by voucher\s+-NOK\s300\.00\s+To pay\s+NOK\s1,700\.00/,
  );
  await look('voucher');
  await button(page, 'Book with obligation to pay').click();
  expect(await page.getByRole('main').innerText()).toMatch(/Siri Nordmann: Has a place\s+Ola Nordmann: Has a place/);
}

async function joinWaitingList(page: Page, { start }: School, look: Look) {
  await openForm(page, start, { place: 'Oslo', title: 'Knots at sea' });
  await link(page, 'Join the waiting list').click();
  await fillPerson(page, 1, 'Unn');
  await look('waiting');
  await button(page, 'Join the waiting list, with obligation to pay for a place').click();
  expect(await page.getByRole('main').innerText()).toContain('Unn Nordmann: On the waiting list');
  await look('waiting-confirmation');
}

describe.each([
  { name: 'Chromium', isInstalled: chromiumPath !== undefined, launch: launchBrowser },
  { name: 'Firefox', isInstalled: hasFirefox, launch: launchFirefox },
])('in $name', ({ name, isInstalled, launch }) => {
  describe.runIf(isInstalled)('a visitor', () => {
    const { open } = browserOfFile(launch);

    test.each([
      { width: 390, javaScriptEnabled: true },
      { width: 390, javaScriptEnabled: false },
      { width: 1280, javaScriptEnabled: true },
      { width: 1280, javaScriptEnabled: false },
    ])('finds dates, books and cancels: $width px, scripts: $javaScriptEnabled', async (options) => {
      const { width, javaScriptEnabled } = options;
      const school = await startSchool();
      const { page, context, complaints, requested } = await open({
        viewport: { width, height: 844 },
        javaScriptEnabled,
      });
      const faults: unknown[] = [];
      const look = async (part: string) => {
        await saveScreenshot(page, `catalog-${part}-${name}-${width}`);
        const overflow = await horizontalOverflow(page);
        const violations = javaScriptEnabled ? await accessibilityViolations(page, { targetSize: true }) : [];
        if (overflow > 0 || violations.length > 0) faults.push({ part, overflow, violations });
      };
      await bookOne(page, school, look);
      await cancelAsPayer(page, look);
      await bookTwoWithVoucher(page, school, look);
      await joinWaitingList(page, school, look);
      expect(faults).toEqual([]);
      expect([complaints, await context.cookies()]).toEqual([[], []]);
      expect(requested.filter((address) => !address.startsWith(school.origin))).toEqual([]);
    });
  });
});

/** Opens each page of the catalog, and the payer's. */
async function listPages({ start, base, long, gone, awaited }: School, page: Page) {
  const date = `${base}/dates/x-${long.dateId}`;
  await page.goto(`${date}/book?lang=en`);
  await fillPerson(page, 1, 'Kari');
  await button(page, 'Book with obligation to pay').click();
  const confirmation = page.url();
  await link(page, 'See your booking').click();
  const payer = page.url();
  const addresses = {
    ...{ start, found: `${start}&q=knots`, 'none-found': `${start}&q=nothing`, confirmation, payer },
    ...{ course: `${base}/courses/x-${long.courseId}?lang=en`, date: `${date}?lang=en`, form: `${date}/book?lang=en` },
    'course-without-date': `${base}/courses/x-${awaited}?lang=en`,
    ...{ 'not-found': `${base}/dates/x-2000000000`, gone: `${base}/dates/x-${gone}`, 'no-school': `${base}-unknown` },
  };
  const pages = Object.entries(addresses).map(([name, address]) => ({ name, go: () => page.goto(address) }));
  const goToErrors = async () => {
    await page.goto(`${date}/book?lang=en`);
    await button(page, 'Add a person').click();
    await page.getByLabel('Voucher code').fill('none');
    await button(page, 'Update the price').click();
    expect(await page.title()).toMatch(/^Error: /);
  };
  return [...pages, { name: 'form-errors', go: goToErrors }];
}

const light = { colorScheme: 'light' as const, theme: { accent: '#ffe14d' } };
const views = [
  { view: '320 px', viewport: { width: 320, height: 640 }, rule: '', ...light },
  {
    view: '320 px, wide spacing',
    ...{ viewport: { width: 320, height: 640 }, ...light },
    rule: '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }',
  },
  {
    view: 'zoom of 200 %',
    ...{ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, rule: '' },
    ...{ colorScheme: 'dark' as const, theme: { accent: '#102030' } },
  },
  {
    view: 'text at 200 %, own colours',
    ...{ viewport: { width: 1280, height: 800 }, rule: 'html { font-size: 200% !important }' },
    ...{ colorScheme: 'light' as const, theme: { accent: '#ffe14d', background: '#102030' } },
  },
];

describe.runIf(chromiumPath)('the pages in Chromium', () => {
  const { open } = browserOfFile();

  test.each(views)('fit the window, and each control shows its focus: $view, $colorScheme', async (options) => {
    const { view, theme, rule } = options;
    const school = await startSchool(theme);
    const { page, complaints } = await open(options);
    const faults: unknown[] = [];
    for (const { name, go } of await listPages(school, page)) {
      await go();
      if (rule) await page.evaluate(`document.styleSheets[0].insertRule('${rule}')`);
      await saveScreenshot(page, `catalog-${name}-${view.replaceAll(/\W+/g, '-')}`);
      const overflow = await horizontalOverflow(page);
      const unfocused = await listFocusFaults(page);
      const violations = await accessibilityViolations(page, { targetSize: true });
      if (overflow > 0 || unfocused.length + violations.length > 0)
        faults.push({ name, overflow, unfocused, violations });
    }
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('a date is printed on one page, dark on white, without controls', async () => {
    const { base, long } = await startSchool({ accent: '#ffe14d', background: '#102030' });
    const { page } = await open({ colorScheme: 'dark' });
    await page.goto(`${base}/dates/x-${long.dateId}?lang=en`);
    await page.emulateMedia({ media: 'print' });
    const shown = await page.evaluate<{ text: string; color: string }[]>(`
      [...document.querySelectorAll('h1, h2, p, dt, dd, a')].filter((one) => one.checkVisibility() && one.innerText)
        .map((one) => ({ text: one.innerText, color: getComputedStyle(one).color }))`);
    const toHex = (color: string) =>
      `#${(color.match(/\d+/g) ?? []).map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
    expect(shown.filter(({ color }) => contrast(toHex(color), '#ffffff') < 4.5)).toEqual([]);
    const texts = shown.map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining([longWord, 'The old boathouse\nBryggen 1\nBergen']));
    expect(texts.filter((text) => /^(Book|All courses|Add to your calendar|Norsk)$/.test(text))).toEqual([]);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(1);
  });
});
