import type { Page } from 'playwright-core';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { providers } from '../../../src/database/tables/providers.ts';
import { eq } from 'drizzle-orm';
import { setPassword } from '../../../src/domains/school/auth/password-service.ts';
import { chromiumPath, browserOfFile, horizontalOverflow, lookAt } from '../../support/browser.ts';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { addDate, addGathering, addInstructor, addLocation, assignInstructor } from '../../support/dates.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import { createLinkToken, createUserToken } from '../../support/pages.ts';
import { freePort } from '../../support/ports.ts';
import { openTestDatabase, openTestApp, settings, type Provider } from '../../support/test-app.ts';

const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const old = 'fjord and forest';

/** A server for a browser, and a school with a user who has past and future course dates. */
async function startSchool() {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const testApp = await openTestApp(openTestDatabase(inject('shared')), { settings: { ...settings, publicUrl: url } });
  onTestFinished(() => testApp.close());
  await testApp.app.listen({ port, host: 'localhost' });
  const me = await testApp.createProvider('Fjord School of Boats, Knots and Cooking');
  const userId = await createUser(me, {
    ...{ username: `kari-${port}@fjordenergy.example`, firstname: 'Kari', lastname: 'Nordmann' },
    ...{
      email: 'kari@fjordenergy.example',
      phone: '+47 900 00 000',
      company: 'Fjord Energy',
      dateOfBirth: '1990-05-17',
    },
    ...{ homeAddress: 'Strandgaten 1', homeZipcode: '5013', homeCity: 'Bergen' },
  });
  await setPassword(await me.ctx(), userId, old);
  await furnish(me, userId);
  const link = async (purpose: 'sign_in' | 'password') =>
    `${url}/my/${purpose === 'sign_in' ? 'sign-in' : 'password'}/${await createUserToken(me, purpose, userId)}`;
  return { testApp, me, userId, url, link };
}

async function furnish(me: Provider, userId: number) {
  const contact = {
    emailBooking: 'post@fjordschool.example',
    phone: '+47 55 00 00 00',
    webAddress: 'https://fjordschool.example',
  };
  await write(me, (tx) => tx.update(providers).set(contact).where(eq(providers.id, me.id)));
  const quay = await addLocation(me, {
    title: 'The old boathouse',
    address: 'Bryggen 1',
    zipcode: '5003',
    city: 'Bergen',
  });
  const instructor = await addInstructor(me, { firstname: 'Siri', lastname: 'Vik', showOnWeb: true });
  const take = async (
    course: Record<string, unknown>,
    date: Parameters<typeof addDate>[2],
    participant: Parameters<typeof createOrder>[1]['participant'] = {},
  ) => {
    const courseId = await me.course(course);
    const dateId = await addDate(me, courseId, date);
    await createOrder(me, { courseId, dateId, users: [userId], participant });
    return dateId;
  };
  const sailing = await take(
    {
      title: 'Sailing in the fjord',
      text_lead: '<p>Three evenings, a <strong>small boat</strong> and all the wind there is.</p>',
      text_description:
        '<h2>What you learn</h2><ul><li>Knots that hold</li><li>Reading the wind</li></ul><p>More at <a href="https://fjordschool.example/sailing">our website</a>.</p>',
      text_prerequisites: '<p>You can swim 200 metres.</p>',
    },
    { startAt: '2030-06-10', endAt: '2030-06-24', startTimeAt: '18:00', endTimeAt: '21:00', locationId: quay },
  );
  await assignInstructor(me, sailing, instructor);
  for (const [day, theme] of [
    ['10', 'Knots'],
    ['17', 'Wind'],
    ['24', 'Out to the islands'],
  ] as const)
    await addGathering(me, sailing, {
      ...{ gatheringAt: `2030-06-${day} 18:00`, gatheringEndAt: `2030-06-${day} 21:00`, theme },
    });
  const online = { isVirtual: true, eventUrl: 'https://meet.example/fjordschool/accounting-for-small-companies' };
  const nine = { startTimeAt: '09:00', endTimeAt: '15:30' };
  await take(
    { title: 'Accounting for small companies' },
    { startAt: '2030-08-01', ...nine, ...online, timezone: 'Europe/London' },
  );
  await take(
    { title: 'Arbeidsmiljøopplæringsforskriftskurs for verneombud' },
    { startAt: '2030-09-02', endAt: '2030-09-03', ...nine },
    { statusId: 3 },
  );
  await take({ title: 'Bread' }, { startAt: '2030-10-02', statusId: 3 });
  await take({ title: 'Soup' }, { startAt: '2030-10-05', statusId: 4 }, { statusId: 7 });
  await take({ title: 'Jam' }, { startAt: '2030-10-09' }, { statusId: 4 });
  await take(
    { title: 'First aid' },
    { startAt: '2021-03-02', ...nine },
    { passed: true, certificateIssuedAt: '2021-03-09' },
  );
  await take({ title: 'First aid at sea' }, { startAt: '2020-03-02', endAt: '2020-03-04' }, { completed: true });
}

/** Links to a group's booking, and to an offer. */
async function bookByLink(me: Provider, url: string) {
  const course = { title: 'Båtførerprøven på Hardangerfjorden for nybegynnere' };
  const time = { startAt: '2030-06-10', endAt: '2030-06-10', startTimeAt: '18:00', endTimeAt: '21:00' };
  const { dateId } = await createBookableDate(me, {
    ...{
      course,
      ...time,
      capacityMax: 4,
      capacityWait: 1,
      waitingMode: 'offer',
      locationId: await addLocation(me, { title: 'Brygga' }),
    },
  });
  const first = await bookOrFail(me, dateId, { participants: [person()] });
  const group = await bookOrFail(me, dateId, { participants: undefined, places: 3 });
  const waiting = await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
  await deregister(me, first.booking_id);
  const [bookingId, waitingId] = [group, waiting].map((one) => Number(one.booking_id)) as [number, number];
  const offer = { bookingId: waitingId, participantId: waiting.participants[0]!.id };
  return {
    booking: `${url}/my/booking/${await createLinkToken(me, { bookingId })}`,
    offer: `${url}/my/offer/${await createLinkToken(me, offer)}`,
  };
}

const heading = (page: Page) => page.locator('h1').innerText();

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  const browser = browserOfFile();

  test('sign-in, navigation, calendar file, password change and sign-out work on a phone without scripts', async () => {
    const { url, link } = await startSchool();
    const { page, complaints, requested } = await browser.open({ ...phone, javaScriptEnabled: false });
    const signIn = await link('sign_in');
    await page.goto(signIn);
    expect(page.url()).toBe(`${url}/my`);
    expect(await heading(page)).toBe('Hello, Kari');

    await page.getByRole('link', { name: 'Sailing in the fjord', exact: true }).click();
    expect(await heading(page)).toBe('Sailing in the fjord');
    expect(await page.getByRole('listitem').filter({ hasText: 'Out to the islands' }).count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Add to calendar' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('course.ics');

    await page.getByRole('link', { name: 'My details' }).click();
    expect(await page.locator('main').innerText()).toContain('Strandgaten 1');

    await page.getByRole('link', { name: 'Password' }).click();
    await page.getByLabel('Your password now').fill(old);
    await page.getByLabel('New password', { exact: true }).fill('mountain and moor');
    await page.getByLabel('The new password once more').fill('mountain and more');
    await page.getByRole('button', { name: 'Save the password' }).click();
    expect(await page.getByLabel('The new password once more').getAttribute('aria-invalid')).toBe('true');
    expect(await page.title()).toMatch(/^Not saved/);
    await page.getByLabel('Your password now').fill(old);
    await page.getByLabel('New password', { exact: true }).fill('mountain and moor');
    await page.getByLabel('The new password once more').fill('mountain and moor');
    await page.getByRole('button', { name: 'Save the password' }).click();
    expect(await heading(page)).toBe('Your password is saved');

    await page.getByRole('link', { name: 'My courses', exact: true }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    expect(await heading(page)).toBe('You are logged out');
    expect((await page.goto(`${url}/my`))!.status()).toBe(401);
    expect((await page.goto(signIn))!.status()).toBe(410);
    expect(await heading(page)).toBe('This link no longer works');

    expect(complaints).toEqual([]);
    expect(requested.filter((address) => !address.startsWith(url))).toEqual([]);
  });

  test('a payer names a place, and a waiting person accepts an offer, on a phone without scripts', async () => {
    const { me, url } = await startSchool();
    const links = await bookByLink(me, url);
    const { page, complaints, requested } = await browser.open({ ...phone, javaScriptEnabled: false });
    await page.goto(links.booking);
    const second = page.getByRole('group', { name: 'Place 2' });
    for (const [label, value] of [
      ['First name', 'Siri'],
      ['Last name', 'Vik'],
      ['E-mail', 'siri@people.example'],
    ] as const)
      await second.getByLabel(label).fill(value);
    await page.getByRole('button', { name: 'Save the names' }).click();
    expect(await page.getByRole('status').innerText()).toBe('One participant is named.');
    expect(await page.getByRole('listitem').nth(1).innerText()).toMatch(/^Siri Vik\s+Has a place$/);

    await page.goto(links.offer);
    await page.getByRole('button', { name: 'Accept the place' }).click();
    expect(await page.locator('.enrolment-status').innerText()).toBe('You have a place');
    expect(await page.getByRole('button').count()).toBe(0);
    expect(complaints).toEqual([]);
    expect(requested.filter((address) => !address.startsWith(url))).toEqual([]);
  });

  test('a mailed link allows choosing a password with the keyboard only', async () => {
    const { link } = await startSchool();
    const { page, complaints } = await browser.open();
    await page.goto(await link('password'));
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    for (const field of ['username', 'password', 'repeated']) {
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').getAttribute('id')).toBe(field);
      if (field !== 'username') await page.keyboard.type('mountain and moor');
    }
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/my(#content)?$/);
    expect(await heading(page)).toBe('Hello, Kari');
    expect(complaints).toEqual([]);
  });

  test.each([
    // The colours do not depend on the language.
    ['en', 'light'],
    ['no', 'dark'],
  ] as const)(
    'pages have no accessibility violations and no horizontal overflow: %s, %s',
    async (language, colorScheme) => {
      const { me, url, link } = await startSchool();
      const { page, complaints } = await browser.open({ locale: language === 'en' ? 'en-GB' : 'nb-NO', colorScheme });
      const { look, found, clean } = lookAt(page, `${language}-${colorScheme}`);
      await page.goto(await link('password'));
      await look('choose-password');
      await page.locator('#password').fill('short');
      await page.locator('#repeated').fill('short');
      await page.locator('main button').click();
      await look('choose-password-error');
      const signIn = await link('sign_in');
      await page.goto(signIn);
      await look('courses');
      await page.locator('h3 a').first().click();
      await look('course');
      await page.goto(`${url}/my/details`);
      await look('details');
      await page.goto(`${url}/my/password`);
      await look('password');
      const elsewhere = await browser.open();
      await elsewhere.page.goto(await link('sign_in'));
      await page.locator('main > p a').click();
      await look('sessions');
      await page.locator('#old').fill('wrong');
      await page.locator('main button').first().click();
      await look('sessions-error');
      await page.goto(signIn);
      await look('link-gone');
      await page.goto(`${url}/my/nothing`);
      await look('not-found');
      await page.goto(`${url}/my`);
      await page.locator('.menu button').click();
      await look('logged-out');
      const links = await bookByLink(me, url);
      await page.goto(links.booking);
      await look('booking');
      await page.locator('fieldset input').nth(1).fill('Vik');
      await page.locator('main button').click();
      await look('booking-error');
      await page.goto(links.offer);
      await look('offer');
      await page.locator('main button').last().click();
      await look('offer-declined');
      await page.goto(links.offer);
      await look('offer-closed');
      expect(found).toEqual(clean);
      expect(complaints).toEqual([]);
    },
  );

  test.each(['en-GB', 'nb-NO'])('the menu fits one row on a phone: %s', async (locale) => {
    const { link } = await startSchool();
    const { page } = await browser.open({ ...phone, viewport: { width: 390, height: 844 }, locale });
    await page.goto(await link('sign_in'));
    const entries = await page.locator('.menu a, .menu button').all();
    const boxes = await Promise.all(entries.map((entry) => entry.boundingBox()));
    expect(boxes).toHaveLength(4);
    // A second line would be at least 16 pixels lower.
    const middles = boxes.map((box) => box!.y + box!.height / 2);
    expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(8);
    expect(boxes.map((box) => box!.height >= 30)).toEqual([true, true, true, true]);
    expect(await horizontalOverflow(page)).toBe(0);
  });
});
