import type { Page } from 'playwright-core';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { browserOfFile, chromiumPath, lookAt } from '../../support/browser.ts';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { addLocation } from '../../support/dates.ts';
import { createOrder, createUser } from '../../support/orders.ts';
import { createLinkToken, createUserToken } from '../../support/pages.ts';
import { freePort } from '../../support/ports.ts';
import { openTestApp, openTestDatabase, settings } from '../../support/test-app.ts';

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A server for a browser, and a school whose participants may cancel, with a fee from 14 days before the start. */
async function startSchool() {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const testApp = await openTestApp(openTestDatabase(inject('shared')), { settings: { ...settings, publicUrl: url } });
  onTestFinished(() => testApp.close());
  await testApp.app.listen({ port, host: 'localhost' });
  const me = await testApp.createProvider('Fjord School of Boats, Knots and Cooking');
  await me.put('/v2/booking-settings', { self_cancellation: true, late_cancellation: 'fee' });
  const place = { title: 'The old boathouse', address: 'Bryggen 1', zipcode: '5003', city: 'Bergen' };
  const locationId = await addLocation(me, { ...place, cancellationDays: 14 });
  const userId = await createUser(me, { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@fjordenergy.example' });
  const open = async (title: string, startAt: string, statusId = 1, more: object = {}) => {
    const date = { startAt, startTimeAt: '18:00', endTimeAt: '21:00', locationId, ...more };
    const { courseId, dateId } = await createBookableDate(me, { course: { title }, ...date });
    const order = { courseId, dateId, users: [userId], participant: { statusId } };
    const { participantIds } = await createOrder(me, order);
    return { dateId, path: `${url}/my/courses/${participantIds[0]!}` };
  };
  const early = await open('Båtførerprøven på Hardangerfjorden for nybegynnere', inDays(40));
  const late = await open('Sailing in the fjord', inDays(5));
  const waiting = await open('Bread', inDays(5), 3);
  const canceled = await open('Soup', inDays(40), 1, { statusId: 3 });
  const people = { participants: [person({ firstname: 'Siri', lastname: 'Vik' }), person({ firstname: 'Unn' })] };
  const booked = await bookOrFail(me, early.dateId, people);
  const payer = `${url}/my/booking/${await createLinkToken(me, { bookingId: Number(booked.booking_id) })}`;
  const signIn = `${url}/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`;
  return { url, signIn, early, late, waiting, canceled, payer };
}

const heading = (page: Page) => page.locator('h1').innerText();

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  const browser = browserOfFile();

  test('a participant and a payer cancel places on a phone without scripts', async () => {
    const { url, signIn, early, payer } = await startSchool();
    const { page, complaints, requested } = await browser.open({ ...phone, javaScriptEnabled: false });
    await page.goto(signIn);
    await page.goto(early.path);
    await page.getByRole('link', { name: 'Cancel your place' }).click();
    expect(await heading(page)).toBe('Cancel the place?');
    await page.getByRole('button', { name: 'Cancel your place' }).click();
    expect(await heading(page)).toBe('The place is canceled');
    await page.reload();
    expect(await page.getByRole('status').innerText()).toBe('There is no fee for the cancellation.');
    await page.getByRole('link', { name: 'Back to the course' }).click();
    expect(await page.locator('.enrolment-status').innerText()).toBe('You are deregistered');

    await page.goto(payer);
    await page.getByRole('link', { name: 'Siri Vik' }).click();
    await page.getByRole('button', { name: 'Cancel the place' }).click();
    await page.getByRole('link', { name: 'Back to the booking' }).click();
    expect(await page.getByRole('listitem').first().innerText()).toMatch(/^Siri Vik\s+Deregistered$/);

    expect(complaints).toEqual([]);
    expect(requested.filter((address) => !address.startsWith(url))).toEqual([]);
  });

  test('a person makes and ends the address of a calendar', async () => {
    const { url, signIn } = await startSchool();
    const { page } = await browser.open({ ...phone, javaScriptEnabled: false });
    await page.goto(signIn);
    await page.getByRole('link', { name: 'My details' }).click();
    await page.getByRole('button', { name: 'Create an address' }).click();
    const address = await page.getByLabel('Address').inputValue();
    expect(address.startsWith(`${url}/my/calendar/`)).toBe(true);
    expect(await (await fetch(address)).text()).toMatch(/^BEGIN:VCALENDAR\r\n/);
    await page.getByRole('button', { name: 'End the address' }).click();
    expect(await page.getByRole('status').innerText()).toBe('The address no longer works.');
    expect((await fetch(address)).status).toBe(404);
  });

  test.each([
    ['en', 'light'],
    ['no', 'dark'],
  ] as const)(
    'the pages have no accessibility violations and no horizontal overflow: %s, %s',
    async (language, colorScheme) => {
      const school = await startSchool();
      const { page, complaints } = await browser.open({ locale: language === 'en' ? 'en-GB' : 'nb-NO', colorScheme });
      const { look, found, clean } = lookAt(page, `${language}-${colorScheme}`);
      const submit = () => page.locator('main form button').first().click();
      await page.goto(school.signIn);
      for (const [name, { path }] of Object.entries({
        early: school.early,
        late: school.late,
        waiting: school.waiting,
      })) {
        await page.goto(path);
        await look(`cancel-${name}-course`);
        await page.goto(`${path}/cancel`);
        await look(`cancel-${name}`);
        if (name === 'late') {
          await page.locator('input[name=fee]').evaluate((field) => (field as unknown as { remove(): void }).remove());
          await submit();
          await look('cancel-changed');
        }
        await submit();
        await look(`cancel-${name}-done`);
      }
      await page.goto(`${school.canceled.path}/cancel`);
      await look('cancel-closed');
      await page.goto(`${school.url}/my/details`);
      await look('feed-none');
      await submit();
      await look('feed-created');
      await page.goto(`${school.url}/my/details`);
      await look('feed-exists');
      await page.locator('main form button').last().click();
      await look('feed-ended');
      await page.goto(school.payer);
      await look('payer');
      await page.locator('.people a').first().click();
      await look('payer-cancel');
      await submit();
      await look('payer-cancel-done');
      expect(found).toEqual(clean);
      expect(complaints).toEqual([]);
    },
  );
});
