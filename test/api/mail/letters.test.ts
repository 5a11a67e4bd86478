import { expect, test } from 'vitest';
import { findLink } from '../../../src/domains/messages/links/service.ts';
import { bookOrFail, createBookableDate, createVoucher, deregister, person, persons } from '../../support/booking.ts';
import { addGathering, addLocation } from '../../support/dates.ts';
import {
  deliverMails,
  extractToken,
  forced,
  openMailTestApp,
  switchMails,
  type ReceivedMail,
} from '../../support/mail.ts';
import { createCampaign, createCustomer } from '../../support/orders.ts';

const kari = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
const ola = { booker_name: 'Ola Hansen', booker_email: 'ola@firm.example' };
const receipt = { config: { send_receipt_email_to_participant: true } };

async function school() {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  const set = async (settings: object) => expect((await me.put('/v2/booking-settings', settings)).status).toBe(200);
  const deliver = (language: 'en' | 'no' = 'en') => deliverMails(testApp, language);
  return { testApp, me, set, deliver };
}

const languageOf = (mail: ReceivedMail) => mail.headers.find(({ key }) => key === 'content-language')!.value;
/** Each kind of space as a simple one. */
const plain = (text = '') => text.replaceAll('\u00a0', ' ');

test('a mail is in the language of its booking, else of the school, else of the service', async () => {
  const { me, set, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const headers = { 'accept-language': 'nb' };
  const send = async (fields: object) => {
    const one = { participants: [person()], ...fields };
    expect(
      (await me.post('/v2/booking', { coursedate_id: dateId, payment_method: 'invoice', ...one }, headers)).status,
    ).toBe(201);
    const mails = await deliver();
    return mails.map((mail) => [languageOf(mail), mail.text!.split('\n')[2]!.split(' ')[0]]);
  };
  expect(await send(receipt)).toEqual([['en', 'Thank']]);
  expect(await send({ ...receipt, language: 'no' })).toEqual([['no', 'Takk']]);
  await set({ language: 'no' });
  expect(await send(receipt)).toEqual([['no', 'Takk']]);
  expect(await send({ ...receipt, language: 'en' })).toEqual([['en', 'Thank']]);
  expect(await send({ ...receipt, language: 'fr-FR' })).toEqual([['no', 'Takk']]);
  const config = { send_account_created_email_to_user: true, send_link_email_to_booker: true };
  expect(await send({ ...ola, config, language: 'en' })).toEqual([
    ['en', 'You'],
    ['en', 'This'],
  ]);
  const group = { participants: undefined, places: 2, ...ola, config: { send_link_email_to_booker: true } };
  expect(await send({ ...group, language: 'en' })).toEqual([['en', 'This']]);
});

test('the language of a booking is stored as sent, also by a batch', async () => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const booking = (fields: object) => ({
    ...{ coursedate_id: dateId, payment_method: 'invoice', participants: [person()], ...receipt },
    ...fields,
  });
  const bookings = [booking({ language: 'no' }), booking({ language: 'sv-SE' }), booking({})];
  const { results } = (await me.post('/v2/batch/booking', { bookings }, { 'accept-language': 'nb' })).json<{
    results: { summary: { participants: { id: number }[] } }[];
  }>();
  const languages = [];
  for (const { summary } of results) {
    const response = await me.get(`/v2/participants/${summary.participants[0]!.id}`);
    languages.push(response.json<{ booker_language_id: string | null }>().booker_language_id);
  }
  expect(languages).toEqual(['no', 'sv-SE', null]);
  expect((await deliver()).map(languageOf)).toEqual(['no', 'en', 'en']);
});

test('greeting, footer and reply address are those of the school in the language of the mail', async () => {
  const { me, set, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const footer = 'Terms & <b>rules</b>\r\n\r\nhttps://oystese.example/terms\nBcc: spy@evil.example';
  const english = { greeting: 'Dear <i>guest</i>!', footer, reply_to: 'answers@oystese.example' };
  await set({ texts: { en: english, no: { greeting: 'Kjære gjest!' } } });
  await bookOrFail(me, dateId, { ...receipt, language: 'en' });
  await bookOrFail(me, dateId, { ...receipt, language: 'no' });
  await me.post('/v2/admin-users', { email: 'ase@people.example', firstname: 'Åse', lastname: 'Vik', role_ids: [1] });
  const [mail, inNorwegian, toStaff] = await deliver();
  expect(mail!.text).toMatch(/^Dear <i>guest<\/i>!\n/);
  expect(mail!.text!.trimEnd()).toMatch(
    /\n\nTerms & <b>rules<\/b>\n\nhttps:\/\/oystese\.example\/terms\nBcc: spy@evil\.example$/,
  );
  expect(mail!.html).toContain('Dear &lt;i>guest&lt;/i>!');
  expect(mail!.html).toContain('Terms &amp; &lt;b>rules&lt;/b><br/><br/><a href="https://oystese.example/terms"');
  expect(mail!.html).not.toMatch(/<b>|<i>/);
  expect(mail!.replyTo).toEqual([{ name: 'Øystese kurs', address: 'answers@oystese.example' }]);
  expect(mail!.text).toContain('Kind regards\nØystese kurs\nanswers@oystese.example\n');
  expect(mail!.headers.map(({ key }) => key)).not.toContain('bcc');
  expect([inNorwegian!.text!.split('\n')[0], inNorwegian!.replyTo]).toEqual(['Kjære gjest!', undefined]);
  expect([toStaff!.text!.split('\n')[0], toStaff!.text!.includes('Terms')]).toEqual(['Hello Åse,', false]);
});

test.each([
  ['nobody else', {}, true],
  ['the participant as booker', { booker_email: 'KARI@people.example' }, true],
  ['another booker', ola, false],
])('a participant sees the amounts of a booking that is paid by %s: %j', async (_, fields, isShown) => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me, { course: { price_value: 1000 } });
  await forced(me, `update products set vat_percentage = 25 where provider_id = ${me.id}`);
  const { order_id } = await bookOrFail(me, dateId, { participants: [kari], ...fields, ...receipt });
  await me.post(`/v2/orders/${order_id}/payments`, { amount: 500 });
  const [mail] = await deliver();
  const amounts = 'Price with VAT: NOK 1,250.00, of which VAT NOK 250.00\nPaid: NOK 500.00\nLeft to pay: NOK 750.00\n';
  expect(plain(mail!.text).includes(amounts)).toBe(isShown);
  expect(/NOK|Left to pay/.test(mail!.raw)).toBe(isShown);
  expect([mail!.text, mail!.html].filter((text) => extractToken(text, 'booking') !== '')).toEqual([]);
});

test('only mails to participants who can sign on lead to the own page', async () => {
  const { me, set, deliver } = await school();
  await set({ mails: { deregistration: true } });
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 5 });
  const haveOwnPage = async () =>
    (await deliver()).map(({ text, html }) => /\/my["\s]|your page/.test(`${text} ${html}`));
  const one = person();
  const config = { ...receipt.config, waiting_list_when_full: true };
  const { booking_id } = await bookOrFail(me, dateId, { participants: [one], config });
  expect(await haveOwnPage()).toEqual([false]);
  const waits = await bookOrFail(me, dateId, { participants: [person()], config });
  expect(await haveOwnPage()).toEqual([false]);
  await deregister(me, waits.booking_id);
  expect(await haveOwnPage()).toEqual([false]);
  const account = { ...config, send_account_created_email_to_user: true };
  await bookOrFail(me, dateId, { participants: [person()], config: account });
  expect(await haveOwnPage()).toEqual([false, true]);
  await forced(
    me,
    `update course_users set password_hash = 'x' where provider_id = ${me.id} and email = '${one.email}'`,
  );
  await deregister(me, booking_id);
  expect(await haveOwnPage()).toContain(true);
});

test('a participant of a customer sees no amounts, the booker does', async () => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const config = { ...receipt.config, send_link_email_to_booker: true };
  const booked = await bookOrFail(me, dateId, { participants: [kari], ...ola, config });
  const id = await createCustomer(me);
  await forced(me, `update orders set customer_id = ${id} where id = ${booked.order_id}`);
  await forced(me, `update bookings set booker_email = 'kari@people.example' where id = ${booked.booking_id}`);
  const mails = await deliver();
  expect(mails.map(({ subject, raw }) => [subject!.split(':')[0], /Left to pay/.test(raw)])).toEqual([
    ['Your booking', false],
    ['Your booking', true],
  ]);
});

test('a participant of several sees no amounts, also where the others have left; the booker sees for how many', async () => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const several = await bookOrFail(me, dateId, {
    participants: [kari, person({ email: 'siv@people.example' })],
    ...receipt,
  });
  const fee = { ...receipt.config, with_fee: 1 };
  await deregister(me, several.booking_id, { participants: [several.participants[1]!.id], config: fee });
  const linked = await createBookableDate(me);
  const config = { send_link_email_to_booker: true };
  await bookOrFail(me, linked.dateId, {
    participants: [kari, person({ email: 'siv@people.example' })],
    ...ola,
    config,
  });
  const mails = await deliver();
  expect(mails.map(({ to, raw }) => [to![0]!.address, /Left to pay/.test(raw)])).toEqual([
    ['kari@people.example', false],
    ['siv@people.example', false],
    ['ola@firm.example', true],
  ]);
  expect(mails.at(-1)!.text).toContain('For the 2 participants of the booking');
});

test('the new person of a swap sees no amounts', async () => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const { participants } = await bookOrFail(me, dateId, { participants: [kari] });
  const siv = person({ firstname: 'Siv', email: 'siv@people.example' });
  expect((await me.put(`/v2/participants/${participants[0]!.id}`, { user: siv })).status).toBe(200);
  const mails = await deliver();
  expect(mails.map(({ to, raw }) => [to![0]!.address, /Left to pay|NOK/.test(raw)])).toEqual([
    ['siv@people.example', false],
    ['kari@people.example', false],
  ]);
});

test('a free booking and money that is owed', async () => {
  const { me, deliver } = await school();
  const free = await createBookableDate(me, { course: { price_value: 0 } });
  await bookOrFail(me, free.dateId, receipt);
  const { dateId } = await createBookableDate(me);
  const { order_id } = await bookOrFail(me, dateId, { language: 'no', ...receipt });
  await me.post(`/v2/orders/${order_id}/payments`, { amount: 1000 });
  await me.post(`/v2/orders/${order_id}/credit`, {});
  const [ofFree, credited] = await deliver();
  expect(ofFree!.text).toContain('Price: Free of charge\n');
  expect(plain(credited!.text)).toContain(
    'Pris med mva.: 0,00 kr\nKreditert: 1 000,00 kr\nBetalt: 1 000,00 kr\nDu får tilbake: 1 000,00 kr\n',
  );
});

test('a payer whose participants all wait owes nothing yet, in the receipt and in other mails', async () => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 5 });
  await bookOrFail(me, dateId);
  const wait = (config: object, fields: object = {}) =>
    bookOrFail(me, dateId, {
      ...{ participants: [kari], ...ola, ...fields },
      config: { waiting_list_when_full: true, ...config },
    });
  const link = await wait({ send_link_email_to_booker: true });
  await switchMails(me, { booking_receipt: true });
  await wait({}, { language: 'no' });
  await wait({});
  const mails = (await deliver()).map(({ text }) => plain(text));
  expect(mails[0]).toContain('\nLeft to pay: Nothing to pay now. NOK 1,000.00 is due if you get a place.\n');
  expect(mails[1]).toContain('\nIngenting å betale nå. Får du plass, skal du betale 1 000,00 kr.\n');
  expect(mails[2]).toContain('\nPayments: NOK 0.00\nNothing to pay now. NOK 1,000.00 is due if you get a place.\n');
  await me.post(`/v2/orders/${link.order_id}/payments`, { amount: 1000 });
  await wait({}, { participants: [person({ email: 'siv@people.example' })] });
  await forced(me, `update participants set status_id = 1 where provider_id = ${me.id}`);
  expect(plain((await deliver())[0]!.text)).toContain('\nLeft to pay: NOK 1,000.00\n');
});

test("the payer's receipt has all of the booking", async () => {
  const { testApp, me, deliver } = await school();
  await switchMails(me, { booking_receipt: true });
  const { courseId, dateId } = await createBookableDate(me, {
    course: { title: 'Knots' },
    ...{ startAt: '2030-06-10', startTimeAt: '09:00', endTimeAt: '16:00', capacityMax: 2, capacityWait: 5 },
  });
  await forced(me, `update products set vat_percentage = 25 where provider_id = ${me.id}`);
  await createCampaign(me, { campaignCode: 'summer', discountValue: '10' }, { courses: [courseId] });
  const voucher = await createVoucher(me, { amount: '1000' });
  const participants = [
    person({ ...kari, comment: 'Allergic to nuts' }),
    person({ lastname: 'Vik' }),
    person({ lastname: 'Moe' }),
  ];
  const { order_id, booking_id } = await bookOrFail(me, dateId, {
    ...{ participants, ...ola, campaign_code: 'summer', voucher_code: voucher.code },
    ...{ company: 'Firm & Co', company_number: '987654321', invoice_reference: 'PO 7', gln_number: '7080000000000' },
    ...{
      invoice_address_1: 'Strandgaten 1',
      invoice_zipcode: '5004',
      invoice_city: 'Bergen',
      invoice_email: 'bill@firm.example',
    },
    // The receipt has the link.
    config: { waiting_list_when_full: true, send_link_email_to_booker: true },
  });
  await me.post(`/v2/orders/${order_id}/payments`, { amount: 500 });
  const [mail, ...more] = await deliver();
  expect([mail!.to, mail!.subject, more]).toEqual([
    [{ name: 'Ola Hansen', address: 'ola@firm.example' }],
    'Receipt of your booking: Knots',
    [],
  ]);
  expect(plain(mail!.text)).toContain(`Course: Knots
Date: Monday 10 June 2030, 09:00–16:00 (Europe/Oslo)
Order number: ${order_id}

Participants
------------
Kari Nordmann: Has a place
Kari Vik: Has a place
Kari Moe: On the waiting list

Prices with VAT
---------------
Knots × 3: NOK 3,375.00, of which 25% VAT: NOK 675.00, discount deducted: NOK 300.00 without VAT

Payment
-------
Discounts, deducted: -NOK 300.00
Total without VAT: NOK 2,700.00
VAT: NOK 675.00
Total with VAT: NOK 3,375.00
Paid by voucher: NOK 1,000.00
Payments: NOK 500.00
Left to pay: NOK 1,875.00, the places on the waiting list are due only if you get them

Invoice
-------
Company: Firm & Co
Organization number: 987654321
Address: Strandgaten 1, 5004 Bergen
E-mail: bill@firm.example
Reference: PO 7
GLN: 7080000000000

Show the booking:
http://localhost:3000/my/booking/`);
  expect(mail!.raw).not.toContain('Allergic');
  const token = extractToken(mail!.text, 'booking');
  const { unlockedStore } = await me.ctx();
  expect(await findLink(unlockedStore, 'booking', token)).toMatchObject({ bookingId: Number(booking_id) });
  // The payer's page has the same amounts.
  const page = await testApp.app.inject({ url: `/my/booking/${token}` });
  for (const amount of ['NOK 3,375.00', 'NOK 1,500.00', 'NOK 1,875.00']) expect(plain(page.body)).toContain(amount);
});

test('a web address is a link only where the school has set it', async () => {
  const { me, deliver } = await school();
  await switchMails(me, { booking_receipt: true });
  await forced(me, `update providers set web_address = 'https://oystese.example' where id = ${me.id}`);
  const { dateId } = await createBookableDate(me, { isVirtual: true, eventUrl: 'https://meet.example/knots' });
  const url = (path: string) => `https://evil.example/${path}`;
  await bookOrFail(me, dateId, {
    ...{ ...receipt, ...ola, company: url('company'), invoice_reference: url('reference') },
    participants: [kari],
  });
  const mails = await deliver();
  const linksOf = ({ html }: ReceivedMail) => [...html!.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  expect(mails.map(linksOf)).toEqual([
    ['https://meet.example/knots', 'https://oystese.example'],
    [expect.stringMatching(/^http:\/\/localhost:3000\/my\/booking\//), 'https://oystese.example'],
  ]);
  const html = mails.map((mail) => mail.html).join('');
  for (const path of ['company', 'reference']) expect(html).toContain(url(path));
});

test('a receipt lists 100 participants, and places without names once', async () => {
  const { me, deliver } = await school();
  await switchMails(me, { booking_receipt: true });
  const { dateId } = await createBookableDate(me);
  await bookOrFail(me, dateId, { ...ola, participants: persons(103) });
  await bookOrFail(me, dateId, { ...ola, participants: undefined, places: 12 });
  const [many, group] = await deliver('no');
  expect(many!.text!.match(/^Kari Nordmann \d+: Har plass$/gm)).toHaveLength(100);
  expect(many!.text).toContain('Har plass\nog 3 til\n\nPriser med mva.\n');
  expect(group!.text).toContain('Deltakere\n---------\n12 plasser uten navn: Reservert\n\n');
});

test('gatherings are listed with their own places, and no more than 50', async () => {
  const { me, deliver } = await school();
  const [quay, hall] = [
    await addLocation(me, { title: 'Quay', city: 'Bergen' }),
    await addLocation(me, { title: 'Hall', city: 'Voss' }),
  ];
  const { dateId } = await createBookableDate(me, { startAt: '2030-01-01', endAt: '2030-12-31', locationId: quay });
  const day = (n: number) => new Date(Date.UTC(2030, 0, n)).toISOString().slice(0, 10);
  for (let n = 1; n <= 52; n += 1)
    await addGathering(me, dateId, {
      ...{ gatheringAt: `${day(n)} 09:00`, gatheringEndAt: `${day(n)} 10:00` },
      locationId: n === 2 ? hall : quay,
    });
  await bookOrFail(me, dateId, receipt);
  const [mail] = await deliver();
  expect(mail!.text).toContain(`Dates: Tuesday 1 January 2030, 09:00–10:00 (Europe/Oslo)
       Wednesday 2 January 2030, 09:00–10:00 (Europe/Oslo), Hall, Voss
`);
  expect(mail!.text!.match(/09:00–10:00/g)).toHaveLength(50);
  expect(mail!.text).toContain('\n       and 2 more\nPlace: Quay\n       Bergen\n');
});

test('mails about a date to come are dropped once they are not true any more', async () => {
  const { testApp, me, deliver } = await school();
  const one = async (
    purpose: string,
    change: (id: number, dateId: number) => Promise<unknown>,
    email = person().email,
  ) => {
    const { dateId } = await createBookableDate(me, { startAt: '2030-06-10' });
    const { participants } = await bookOrFail(me, dateId, { participants: [person({ email })] });
    const id = participants[0]!.id;
    const formerDate = purpose === 'moved_away' ? dateId : 'null';
    await forced(
      me,
      `insert into outbox (provider_id, purpose, participant_id, user_id, course_date_id, created_at, due_at)
        select provider_id, '${purpose}', id, user_id, ${formerDate}, now(), now() from participants where id = ${id}`,
    );
    await change(id, dateId);
  };
  const setStatus = (status: number) => (id: number) =>
    forced(me, `update participants set status_id = ${status} where id = ${id}`);
  const setDate = (columns: string) => (_: number, dateId: number) =>
    forced(me, `update course_dates set ${columns} where id = ${dateId}`);
  const ago = `start_at = '2020-01-01', deadline_at = '2020-01-01'`;
  for (const purpose of ['promotion', 'date_changed', 'reminder']) {
    await one(purpose, setStatus(4));
    await one(purpose, setDate('status_id = 3'));
    await one(purpose, setDate(`${ago}, end_at = '2020-01-01'`));
  }
  await one('promotion', setStatus(3));
  await one('reminder', setStatus(3));
  await one('reminder', setStatus(7));
  await one('reminder', setDate('status_id = 4'));
  await one('reminder', setDate(`${ago}, end_at = '2030-06-10'`));
  await one('moved_away', () => Promise.resolve());
  for (const purpose of ['promotion', 'date_changed', 'reminder'])
    await one(purpose, () => Promise.resolve(), `${purpose}@people.example`);
  expect((await deliver()).map(({ to }) => to![0]!.address)).toEqual([
    ...['promotion@people.example', 'date_changed@people.example', 'reminder@people.example'],
  ]);
  expect((await testApp.database.pool.query('select 1 from outbox')).rowCount).toBe(3);
});

test('a deregistration without a fee has no amounts: the order is credited later', async () => {
  const { me, deliver } = await school();
  const { dateId } = await createBookableDate(me);
  const { booking_id } = await bookOrFail(me, dateId, { participants: [kari] });
  await deregister(me, booking_id, receipt);
  const [mail] = await deliver();
  expect(plain(mail!.text)).toContain('No cancellation fee is charged.');
  expect(plain(mail!.text)).not.toContain('NOK');
});

test('a mail about a changed date says what has changed, with what was before', async () => {
  const { me, deliver } = await school();
  await switchMails(me, { date_changed: true });
  const [quay, hall] = [
    await addLocation(me, { title: 'Quay', city: 'Bergen' }),
    await addLocation(me, { title: 'Hall', city: 'Voss' }),
  ];
  const { courseId, dateId } = await createBookableDate(me, {
    ...{ course: { title: 'Knots' }, startAt: '2030-06-10', endAt: '2030-06-10' },
    ...{ startTimeAt: '09:00', endTimeAt: '15:00', locationId: quay },
  });
  await bookOrFail(me, dateId, { participants: [kari] });
  const change = async (fields: object, language: 'en' | 'no' = 'en') => {
    expect((await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, fields)).status).toBe(200);
    const [mail, ...more] = await deliver(language);
    expect(more).toEqual([]);
    return plain(mail!.text).split('\n\n').slice(1, 3);
  };
  expect(await change({ start_at: '2030-06-11', end_at: '2030-06-11', start_time_at: '10:00' })).toEqual([
    'Øystese kurs has changed the time of this date. Below is what holds now, and what was before.',
    `Participant: Kari Nordmann
Course: Knots
Date: Tuesday 11 June 2030, 10:00–15:00 (Europe/Oslo)
Before: Monday 10 June 2030, 09:00–15:00 (Europe/Oslo)
Place: Quay
       Bergen
Price with VAT: NOK 1,000.00
Paid: NOK 0.00
Left to pay: NOK 1,000.00`,
  ]);
  const moved = await change(
    { location_id: hall, event_url: 'https://meet.example/knots', end_time_at: '16:00' },
    'no',
  );
  expect(moved[0]).toBe(
    'Øystese kurs har endret tiden, stedet og lenken for denne datoen. Nedenfor står det som gjelder nå, og det som var før.',
  );
  expect(moved[1]).toContain(`Dato: tirsdag 11. juni 2030, 10:00–16:00 (Europe/Oslo)
Tidligere: tirsdag 11. juni 2030, 10:00–15:00 (Europe/Oslo)
Sted: Hall
      Voss
Tidligere: Quay
           Bergen
Lenke: https://meet.example/knots
`);
  // Another theme is no change of the time.
  const gathering = { gathering_at: '2030-06-11 10:00', gathering_end_at: '2030-06-11 12:00', theme: 'Bends' };
  const second = { gathering_at: '2030-06-11 13:00', gathering_end_at: '2030-06-11 16:00' };
  await change({ gatherings: [gathering, second] });
  const [opening, facts] = await change({ gatherings: [{ ...gathering, theme: 'Hitches' }, second], event_url: '' });
  expect(opening).toBe('Øystese kurs has changed the link of this date. Below is what holds now, and what was before.');
  expect(facts).toContain('10:00–12:00 (Europe/Oslo): Hitches\n');
  expect(facts).toContain('\nBefore: https://meet.example/knots\n');
});

test('a mail about a reopened date says so, and one of several changes has what was before the first', async () => {
  const { me, deliver } = await school();
  await switchMails(me, { date_changed: true });
  const { courseId, dateId } = await createBookableDate(me, { startAt: '2030-06-10', endAt: '2030-06-10' });
  await bookOrFail(me, dateId, { participants: [kari] });
  const path = `/v2/courses/${courseId}/coursedates/${dateId}`;
  const change = async (fields: object) => expect((await me.put(path, fields)).status).toBe(200);
  await change({ status_id: 3 });
  await change({ status_id: 2 });
  const opening = async (language: 'en' | 'no') => plain((await deliver(language))[0]!.text).split('\n\n')[1];
  expect(await opening('en')).toBe('Øystese kurs had canceled this date. It takes place after all.');
  for (const day of ['2030-06-12', '2030-06-13']) await change({ start_at: day, end_at: day });
  const [mail] = await deliver();
  expect(mail!.text).toContain('Date: Thursday 13 June 2030\nBefore: Monday 10 June 2030\n');
  // Taken back before it is sent, and a mail of an earlier version.
  for (const day of ['2030-06-14', '2030-06-13']) await change({ start_at: day, end_at: day });
  expect(await opening('en')).toBe(
    'Øystese kurs has changed the time or place of this date. The current data is below.',
  );
  await change({ start_at: '2030-06-14', end_at: '2030-06-14' });
  await forced(me, 'update outbox set before = null');
  expect(await opening('no')).toBe(
    'Øystese kurs har endret tid eller sted for denne datoen. Det som gjelder nå, står nedenfor.',
  );
});

test('a receipt of another status than the booked one says that the booking has changed', async () => {
  const { me, deliver } = await school();
  await switchMails(me, { receipt: true });
  const { dateId } = await createBookableDate(me, { course: { title: 'Knots' }, capacityWait: 5 });
  const { participants } = await bookOrFail(me, dateId, { participants: [kari] });
  const set = async (idStatus: number, language: 'en' | 'no') => {
    expect((await me.put(`/v2/participants/${participants[0]!.id}`, { idStatus })).status).toBe(200);
    const [mail] = await deliver(language);
    return [mail!.subject, mail!.text!.split('\n')[2]];
  };
  expect((await deliver())[0]!.text).toContain('Thank you for booking with Øystese kurs. Your place is confirmed.');
  expect(await set(3, 'en')).toEqual([
    'Waiting list: Knots',
    'Your booking with Øystese kurs has changed. You are on the waiting list, and get a place if one becomes free.',
  ]);
  expect(await set(7, 'no')).toEqual([
    'Påmeldingen din: Knots',
    'Påmeldingen din hos Øystese kurs er endret. Påmeldingen er registrert, men skolen har ikke bekreftet plassen din ennå.',
  ]);
  expect(await set(1, 'en')).toEqual([
    'You have a place: Knots',
    'You have a place on this course at Øystese kurs. Welcome!',
  ]);
});

test('a reminder asks the booker for the names, by the payer’s link, until all places have one', async () => {
  const { testApp, me, deliver } = await school();
  const { dateId } = await createBookableDate(me, { course: { title: 'Knots' } });
  const { participants } = await bookOrFail(me, dateId, { ...ola, participants: undefined, places: 2 });
  const remind = () =>
    forced(
      me,
      `insert into outbox (provider_id, purpose, participant_id, booking_id, created_at, due_at)
        select provider_id, 'reminder', id, booking_id, now(), now() from participants where id = ${participants[0]!.id}`,
    );
  await remind();
  const [mail] = await deliver();
  expect([mail!.to![0]!.address, mail!.subject]).toEqual(['ola@firm.example', 'Soon: Knots']);
  expect(mail!.text!.split('\n\n').slice(0, 3)).toEqual([
    'Hello Ola Hansen,',
    'The course of your booking at Øystese kurs begins soon.',
    'You have booked places without names. Please name the participants by the link below.',
  ]);
  expect(mail!.text).not.toContain('Participant:');
  const page = await testApp.app.inject({ url: `/my/booking/${extractToken(mail!.text, 'booking')}` });
  expect(page.statusCode).toBe(200);
  for (const [n, told] of [1, 0].entries()) {
    expect((await me.put(`/v2/participants/${participants[n]!.id}`, { user: person() })).status).toBe(200);
    await forced(me, `delete from outbox where purpose = 'swap'`);
    await remind();
    expect(await deliver('no')).toHaveLength(told);
  }
});

test('the message of a cancellation and the text of a place keep their line breaks', async () => {
  const { me, deliver } = await school();
  const { courseId, dateId } = await createBookableDate(me);
  const place = 'Inngang B\r\nRom 7';
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { place_additional_info: place });
  await switchMails(me, { receipt: true, date_canceled: true });
  const { order_id } = await bookOrFail(me, dateId, { participants: [person(kari)], ...receipt });
  const [mail] = await deliver();
  expect(mail!.text).toContain('Place: Inngang B\n       Rom 7\n');
  expect(mail!.html).toContain('Inngang B<br/>Rom 7');

  const message = 'Kursleder er syk.\r\n\r\nVi ringer deg.\nHilsen oss\n';
  const canceled = await me.post(`/v2/courses/${courseId}/coursedates/${dateId}/cancel`, { message, credit: true });
  expect(canceled.status, canceled.text).toBe(200);
  const told = (await deliver()).find(({ text }) => text?.includes('Kursleder'));
  expect(told!.text).toContain('\n\nKursleder er syk.\n\nVi ringer deg.\nHilsen oss\n\n');
  expect(told!.html).toContain('Kursleder er syk.<br/><br/>Vi ringer deg.<br/>Hilsen oss');
  const url = `/v2/courses/${courseId}/coursedates/${dateId}?include=cancellation_message`;
  expect((await me.get(url)).json()).toMatchObject({
    cancellation_message: 'Kursleder er syk.\n\nVi ringer deg.\nHilsen oss',
  });
  const [, credit] = (await me.get('/v2/orders?include[]=credit')).json<{ id: number; credit: { reason: string } }[]>();
  expect([credit!.id > Number(order_id), credit!.credit.reason]).toEqual([
    true,
    'Kursleder er syk. Vi ringer deg. Hilsen oss',
  ]);
});
