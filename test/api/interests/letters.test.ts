import { expect, test } from 'vitest';
import { eq } from 'drizzle-orm';
import { products } from '../../../src/database/tables/courses.ts';
import { queueInterestMails } from '../../../src/domains/courses/interests/service.ts';
import { addDate, addLocation, changeDate } from '../../support/dates.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { addInterests, askFor, interestMails, listInterests } from '../../support/interests.ts';
import {
  allSent,
  deliverMails,
  extractToken,
  openMailTestApp,
  startMailServer,
  startWorker,
} from '../../support/mail.ts';
import { write } from '../../support/orders.ts';
import { visitor } from '../../support/pages.ts';
import { settings } from '../../support/test-app.ts';

/** Each kind of space as a simple one. */
const plain = (text = '') => text.replaceAll('\u00a0', ' ');
const toPost = { startTimeAt: '09:00', endTimeAt: '15:30', startAt: '2040-06-11', endAt: '2040-06-11' };

async function school() {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  const courseId = await me.course({ title: 'Knots', price_value: 1000 });
  await write(me, (tx) => tx.update(products).set({ vatPercentage: '25' }).where(eq(products.courseId, courseId)));
  const locationId = await addLocation(me, {
    title: 'Boathouse',
    address: 'Bryggen 1',
    zipcode: '5003',
    city: 'Bergen',
  });
  const publish = (fields: object = {}) => addDate(me, courseId, { locationId, ...toPost, ...fields });
  return { testApp, me, courseId, publish, tell: () => queueInterestMails(testApp.database) };
}

test('a person confirms by the link of a mail without the name that was typed, and gets one mail when there is a date', async () => {
  const { testApp, me, courseId, publish, tell } = await school();
  const base = await switchCatalogOn(me);
  await me.put('/v2/booking-settings', {
    texts: { en: { footer: 'Knots since 1901', reply_to: 'ask@knots.example' } },
  });
  await askFor(me, courseId, { email: 'Ida@Interest.example', name: 'Ida Øvrebø', language: 'en' });
  const [asked] = await deliverMails(testApp);
  expect([asked!.to, asked!.subject]).toEqual([
    [{ address: 'ida@interest.example', name: '' }],
    'Please confirm: Knots',
  ]);
  expect(asked!.text).toMatch(/^Hello,\n\nSomebody, probably you, asked for an e-mail/);
  for (const content of [asked!.text, asked!.html]) expect(content).not.toContain('Øvrebø');
  const link = `/my/interest/${extractToken(asked!.text, 'interest')}`;
  expect((await visitor(testApp.app).post(link, { answer: 'confirm' })).status).toBe(200);

  const dateId = await publish();
  await tell();
  const [told, ...others] = await deliverMails(testApp);
  expect(others).toEqual([]);
  expect(told).toMatchObject({
    subject: 'There is a date: Knots',
    to: [{ address: 'ida@interest.example', name: 'Ida Øvrebø' }],
    replyTo: [{ address: 'ask@knots.example' }],
  });
  const text = plain(told!.text);
  expect(text).toMatch(/^Hello Ida Øvrebø,\n/);
  for (const part of [
    'Knots',
    'Monday 11 June 2040, 09:00–15:30 (Europe/Oslo)',
    'Bryggen 1',
    '5003 Bergen',
    'NOK 1,250.00, of which VAT NOK 250.00',
    `${settings.publicUrl}${base}/dates/knots-${dateId}`,
    'Knots since 1901',
  ]) {
    expect(text).toContain(part);
    expect(plain(told!.html)).toContain(part);
  }
  await tell();
  expect(await interestMails(me)).toHaveLength(2);
});

test('the mails are in the language of the interest, and a date without a catalog links to where it is booked', async () => {
  const { testApp, me, courseId, publish, tell } = await school();
  await askFor(me, courseId, { email: 'ida@interest.example', language: 'no' });
  const [asked] = await deliverMails(testApp);
  expect([asked!.subject, asked!.text]).toEqual(['Bekreft: Knots', expect.stringContaining('Noen, trolig du,')]);
  const link = `/my/interest/${extractToken(asked!.text, 'interest')}`;
  await visitor(testApp.app).post(link, { answer: 'confirm' });
  const dateId = await publish();
  await tell();
  const [told] = await deliverMails(testApp);
  expect([told!.subject, plain(told!.text)]).toEqual(['Det er en dato: Knots', expect.stringContaining('1 250,00')]);
  expect(told!.text).toContain('Se datoen og bestill:\nhttps://catalog.example/knots');
  await changeDate(me, dateId, { externalBookingUrl: 'https://knots.example/book' });
  await addInterests(me, courseId);
  await tell();
  expect((await deliverMails(testApp))[0]!.text).toContain('See the date and book:\nhttps://knots.example/book');
});

test('a mail about a date that cannot be booked any more is dropped, and its person is told of the next one', async () => {
  const { testApp, me, courseId, publish, tell } = await school();
  await addInterests(me, courseId);
  const first = await publish();
  await tell();
  await changeDate(me, first, { statusId: 3 });
  expect(await deliverMails(testApp)).toEqual([]);
  expect(await listInterests(me, courseId)).toMatchObject([{ notified_at: null, coursedate_id: null }]);
  const second = await publish({ startAt: '2041-01-01', endAt: '2041-01-01', deadlineAt: '2041-01-01' });
  await tell();
  expect((await deliverMails(testApp)).map(({ subject }) => subject)).toEqual(['There is a date: Knots']);
  expect(await listInterests(me, courseId)).toMatchObject([{ coursedate_id: second }]);
});

test('a mail that was sent and is sent again does not make its person told twice', async () => {
  const { testApp, me, courseId, publish, tell } = await school();
  await addInterests(me, courseId);
  const dateId = await publish();
  await tell();
  await deliverMails(testApp);
  await testApp.database.pool.query(`update outbox set sent_at = sent_at - interval '1 hour'`);
  const [mail] = (await me.get('/v2/mails?purpose=date_published')).json<{ id: number; coursedate_id: number }[]>();
  expect(mail!.coursedate_id).toBe(dateId);
  expect((await me.post(`/v2/mails/${mail!.id}/resend`, {})).status).toBe(201);
  await changeDate(me, dateId, { statusId: 3 });
  expect(await deliverMails(testApp)).toEqual([]);
  expect(await listInterests(me, courseId, '?notified=true')).toHaveLength(1);
});

test('a mail of an interest that is deleted or confirmed since is dropped', async () => {
  const { testApp, me, courseId, publish, tell } = await school();
  await addInterests(me, courseId);
  await publish();
  await tell();
  await testApp.database.pool.query('delete from course_interests');
  expect(await deliverMails(testApp)).toEqual([]);
  const other = await me.course();
  await askFor(me, other);
  await testApp.database.pool.query('update course_interests set confirmed_at = now()');
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await allSent(testApp);
  expect(log.filter((line) => line.includes('dropped'))).toEqual([
    expect.stringContaining('its interest is confirmed in the meantime'),
  ]);
});
