import { eq } from 'drizzle-orm';
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashSecret } from '../../../src/core/secrets.ts';
import { products } from '../../../src/database/tables/courses.ts';
import { toToken } from '../../../src/plugins/pages/catalog/booking/service.ts';
import { hashAddress } from '../../../src/plugins/pages/catalog/forms.ts';
import { letterTexts } from '../../../src/plugins/delivery/mail/letter.tsx';
import { createLink } from '../../../src/domains/messages/links/service.ts';
import { book, bookOrFail, createVoucher, person, statusesOnDate } from '../../support/booking.ts';
import { openOwnHost } from '../../support/catalog.ts';
import { personFields, readFormFields, readMain, type FormFields } from '../../support/catalog-form.ts';
import { openFormSchool, type FormOptions } from '../../support/form-school.ts';
import { addDate, addLocation, changeDate } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { createLinkToken, visitor } from '../../support/pages.ts';
import { openTestApp, settings, sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, database } = testApp;
const anyone = visitor(app);

const school = (options?: FormOptions) => openFormSchool(testApp, options);

const rowsOf = async (me: Provider, query: string) =>
  (await database.pool.query<Record<string, any>>(query, [me.id])).rows;
const ordersOf = (me: Provider) =>
  rowsOf(
    me,
    `select o.booker, b.booker_email, b.booker_phone, b.language, o.your_reference, o.gln_number, o.invoice_address,
      o.invoice_zipcode, o.invoice_city, o.invoice_email, o.custom_properties, o.is_paid,
      (o.total_before_discounts - o.total_discounts + o.total_vat)::text as total
    from orders o join bookings b on b.provider_id = o.provider_id and b.order_id = o.id
    where o.provider_id = $1 order by o.id`,
  );
const mailsOf = (me: Provider) =>
  rowsOf(
    me,
    `select purpose, coalesce(b.booker_email, u.email) as to from outbox o
      left join bookings b on b.provider_id = o.provider_id and b.id = o.booking_id
      left join course_users u on u.provider_id = o.provider_id and u.id = o.user_id
    where o.provider_id = $1 and purpose in ('receipt', 'booking_receipt', 'account_created') order by o.id`,
  );
const countBookings = async (me: Provider) =>
  (await rowsOf(me, 'select id from bookings where provider_id = $1')).length;

test('a form books two persons for the first one, and confirms it with a link to the booking', async () => {
  const { me, base, url, open, send, dateId } = await school();
  const page = await anyone.get(url);
  expect([page.status, page.headers['cache-control'], page.headers['set-cookie']]).toEqual([
    200,
    'no-store',
    undefined,
  ]);
  expect(page.headers['content-security-policy']).toContain(`default-src 'none'`);
  expect(readMain(page)).toContain('|Knots × 1|NOK 1,250.00|Total with VAT|NOK 1,250.00|VAT included|NOK 250.00|');
  const first = { ...(await open()), ...personFields(1, { phone: '99 88 77 66' }) };
  const added = await send(first, 'add');
  expect([added.status, await countBookings(me)]).toEqual([200, 0]);
  const form = readFormFields(added);
  expect(form).toMatchObject({
    key: first['key'],
    firstname_1: 'Kari1',
    email_1: 'kari1@form.example',
    firstname_2: '',
  });
  expect(readMain(added)).toContain('|Knots × 2|NOK 2,500.00|');
  const booked = await send({ ...form, ...personFields(2) });
  expect([booked.status, booked.headers['location'], booked.headers['set-cookie']]).toEqual([
    ...[303, `${base}/booked/${form['key']}`, undefined],
  ]);
  expect(await ordersOf(me)).toMatchObject([
    {
      ...{ booker: 'Kari1 Nordmann', booker_email: 'kari1@form.example', booker_phone: '99 88 77 66', language: 'en' },
      ...{ total: '2500.00', custom_properties: null },
    },
  ]);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1]);
  expect(await mailsOf(me)).toEqual([{ purpose: 'booking_receipt', to: 'kari1@form.example' }]);

  const confirmation = await anyone.get(booked.headers['location'] as string);
  expect([confirmation.status, confirmation.headers['cache-control']]).toEqual([200, 'no-store']);
  expect(readMain(confirmation)).toContain('|Kari1 Nordmann: Has a place|Kari2 Nordmann: Has a place|');
  expect(readMain(confirmation)).toMatch(/\|Order\|\d+\|Seller\|School /);
  expect(readMain(confirmation)).toContain('|We have sent a receipt to kari1@form.example.|');
  expect(readMain(confirmation)).toContain(`|${letterTexts.en.payerLink.closing[0]}|`);
  const [, link] = /href="[^"]*(\/my\/booking\/[^"]*)"/.exec(confirmation.text)!;
  expect(readMain(await anyone.get(link!))).toContain('Kari2 Nordmann');
});

test('a price without VAT has no line of VAT', async () => {
  const { url, open, send } = await school({ vat: '0' });
  const booked = await send({ ...(await open()), ...personFields(1) });
  const pages = [await anyone.get(url), await anyone.get(booked.headers['location'] as string)].map(readMain);
  for (const page of pages) expect(page).toMatch(/\|Total with VAT\|NOK 1,000\.00\|To pay\|NOK 1,000\.00\|/);
});

test('the form says until when a place can be canceled, and whether with a fee, where the school allows it', async () => {
  const { me, url, dateId } = await school({ date: { startAt: '2030-06-10', startTimeAt: '09:00' } });
  const read = async (settings: object, cancellationDays: number, lang = 'en') => {
    await me.put('/v2/booking-settings', settings);
    const locationId = await addLocation(me, { title: 'Quay', cancellationDays });
    await changeDate(me, dateId, { locationId });
    return readMain(await anyone.get(`${url}?lang=${lang}`));
  };
  expect(await read({ late_cancellation: 'fee' }, 7)).not.toContain('cancel');
  const until = 'Monday 3 June 2030, 09:00';
  expect(await read({ self_cancellation: true }, 7)).toContain(
    `|A place can be canceled free of charge until ${until}, after that with a fee.|Book with obligation to pay|`,
  );
  expect(await read({}, 7, 'no')).toContain(
    '|En plass kan avbestilles gratis til mandag 3. juni 2030, 09:00, deretter mot et gebyr.|',
  );
  expect(await read({}, 10_000)).toContain(
    '|A place can only be canceled with a fee, until Monday 10 June 2030, 09:00.|',
  );
  expect(await read({ late_cancellation: 'no' }, 7)).toContain(`free of charge until ${until}, but not later.|`);
  expect(await read({}, 10_000)).toContain('|A booked place cannot be canceled.|');
});

test.each([
  ['2027-04-04', '02:30', 'Sunday 28 March 2027, 03:30'],
  ['2027-04-04', '01:59', 'Sunday 28 March 2027, 01:59'],
  ['2027-11-07', '02:30', 'Sunday 31 October 2027, 02:30'],
  ['2027-04-04', null, 'Saturday 27 March 2027, 23:59'],
])('a place on %s %s can be canceled until a time that exists', async (startAt, startTimeAt, until) => {
  const { me, url, dateId } = await school({ date: { startAt, startTimeAt } });
  await me.put('/v2/booking-settings', { self_cancellation: true });
  await changeDate(me, dateId, { locationId: await addLocation(me, { title: 'Quay', cancellationDays: 7 }) });
  expect(readMain(await anyone.get(url))).toContain(
    `|A place can be canceled free of charge until ${until}, but not later.|`,
  );
  const summary = await bookOrFail(me, dateId);
  const link = `/my/booking/${await createLinkToken(me, { bookingId: Number(summary.booking_id) })}`;
  expect(readMain(await anyone.get(link))).toContain(`|free of charge until ${until}|`);
});

test('a form in Norwegian books in Norwegian, and the chosen language stays', async () => {
  const { me, url, open, base } = await school();
  const page = await anyone.get(`${url}?lang=no`);
  expect(page.text).toContain('<html lang="no">');
  expect(page.text).toContain('Bestill med betalingsplikt');
  const form = { ...(await open('?lang=no')), ...personFields(1), action: 'book' } as FormFields;
  const booked = await anyone.post(`${url}?lang=no`, form);
  expect(booked.headers['location']).toBe(`${base}/booked/${form['key']}?lang=no`);
  expect(await ordersOf(me)).toMatchObject([{ language: 'no' }]);
  expect(readMain(await anyone.get(booked.headers['location'] as string))).toContain('Takk for bestillingen');
  expect(readMain(await anyone.get(booked.headers['location'] as string))).toContain(
    `|${letterTexts.no.payerLink.closing[0]}|`,
  );
});

test('a removed person is gone, and the others keep what was typed', async () => {
  const { open, send } = await school({ catalog: { fields: { company: 'off' } } });
  const typed = { booker_name: 'Æ "quoted" <b>', invoice_city: 'Ås & Ski' };
  let form: FormFields = { ...(await open()), ...personFields(1), ...typed };
  expect(Object.keys(form)).not.toContain('company_1');
  form = { ...form, ...readFormFields(await send(form, 'add')), ...personFields(2, { comment: 'No <nuts>\nplease' }) };
  form = { ...readFormFields(await send(form, 'add')), ...personFields(3) };
  const rest = readFormFields(await send(form, 'remove_1'));
  expect(rest).toMatchObject({
    ...{ firstname_1: 'Kari2', comment_1: 'No <nuts>\nplease', firstname_2: 'Kari3', key: form['key'] },
    ...typed,
  });
  expect(Object.keys(rest)).not.toContain('firstname_3');
});

test('errors are beside their fields and at the top, and nothing typed is lost', async () => {
  const { me, open, send } = await school({ catalog: { fields: { phone: 'required', date_of_birth: 'optional' } } });
  const fields = {
    ...(await open()),
    ...personFields(1, { email: 'kari at home', firstname: '', date_of_birth: '2190-01-01' }),
    ...{ kind: 'company', booker_email: 'boss@firm.example', voucher_code: 'NONE', invoice_email: 'x@' },
  };
  const response = await send(fields);
  expect([response.status, await countBookings(me)]).toEqual([400, 0]);
  expect(response.text).toContain('<title>Error: Book: Knots');
  const texts = [
    ...['First name (Participant 1) is missing', 'Phone (Participant 1) is missing'],
    ...['Name of the payer is missing', 'Company is missing', 'E-mail (Participant 1) is not valid'],
    ...['Date of birth (Participant 1) is not valid', 'E-mail for the invoice is not valid'],
    'The voucher code is not valid',
  ];
  for (const text of texts) expect(readMain(response).split(text).length, text).toBe(3);
  expect(response.text).toMatch(
    /<a href="#email_1">[^<]*<\/a>.*id="email_1-error" class="field-error">.*id="email_1"[^>]* aria-describedby="email_1-error" aria-invalid="true"/s,
  );
  expect(readFormFields(response)).toEqual({ ...fields, version: expect.any(String) as string });
});

test('a known e-mail address is answered as an unknown one', async () => {
  const { me, open, send } = await school({ date: { capacityMax: 0 } });
  const known = { firstname: 'Kari1', lastname: 'Nordmann', email: 'kari1@form.example' };
  expect((await me.post('/v2/course-users', known)).status).toBe(201);
  const texts: string[] = [];
  for (const email of ['kari1@form.example', 'nobody@form.example']) {
    const form = { ...(await open()), ...personFields(1, { email, firstname: '' }) };
    const checked = await send(form);
    const booked = await send({ ...form, firstname_1: 'Kari1' });
    const confirmed = await anyone.get(booked.headers['location'] as string);
    texts.push(
      [checked, confirmed]
        .map((one) =>
          readMain(one)
            .replaceAll(email, 'EMAIL')
            .replace(/Order\|\d+/, 'Order'),
        )
        .join(),
    );
    expect([checked.status, booked.status, confirmed.status]).toEqual([400, 303, 200]);
  }
  expect(texts[0]).toContain('|Please correct this:|First name (Participant 1) is missing|');
  expect(texts[0]).toBe(texts[1]);
});

test('a name that could be a link is refused', async () => {
  const { open, send } = await school();
  const form = await open();
  for (const [fields, label] of [
    [personFields(1, { firstname: 'http://evil.example' }), 'First name (Participant 1)'],
    [personFields(1, { lastname: 'Www.evil.example' }), 'Last name (Participant 1)'],
    [{ ...personFields(1), booker_name: 'see www.evil.example', booker_email: 'a@b.example' }, 'Name of the payer'],
  ] as const) {
    const refused = await send({ ...form, ...fields });
    expect([refused.status, readMain(refused).includes(`${label} is not valid`)], label).toEqual([400, true]);
  }
});

test('a fault of the payer is shown at the first participant, where the payer is not named', async () => {
  const { me, open, send } = await school();
  const form = await open();
  const long = personFields(1, { firstname: 'a'.repeat(200), lastname: 'b'.repeat(100) });
  const tooLong = await send({ ...form, ...long });
  expect([tooLong.status, readMain(tooLong).includes('First name (Participant 1) is not valid')]).toEqual([400, true]);
  const phone = await send({ ...form, ...personFields(1), booker_phone: '5'.repeat(6_000) });
  expect([phone.status, readMain(phone).includes('Phone of the payer is not valid')]).toEqual([400, true]);
  const ofFirst = await send({ ...form, ...personFields(1, { phone: '5'.repeat(6_000) }) });
  expect(readMain(ofFirst).match(/Phone[^|]* is not valid/g)).toEqual(
    Array(2).fill('Phone (Participant 1) is not valid'),
  );
  expect(await countBookings(me)).toBe(0);
});

test('a form that is sent again after its record was deleted books nothing', async () => {
  const { me, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  expect((await send(form)).status).toBe(303);
  await write(me, (tx) => tx.$client.query('delete from catalog_posts where provider_id = $1', [me.id]));
  const again = await send(form);
  expect([again.status, await countBookings(me)]).toEqual([410, 1]);
});

test('a form that is sent to a former slug is repeated with its fields', async () => {
  const { me, base, url, send } = await school();
  await me.put('/v2/catalog-settings', { slug: `${base.replace('/catalog/', '')}-new` });
  const { status, headers } = await send({});
  expect([status, headers['location']]).toEqual([308, url.replace(base, `${base}-new`)]);
});

test('a voucher and a campaign are shown in the price before they are booked', async () => {
  const { me, open, send } = await school();
  const { code } = await createVoucher(me, { amount: '500.00' });
  const campaign = { title: 'Ten', campaign_code: 'TEN', discount_type: 'Percent', discount_value: 10, active: true };
  expect((await me.post('/v2/campaigns', { type: 'Campaign', ...campaign })).status).toBe(201);
  const codes = { campaign_code: 'ten', voucher_code: code };
  const form = { ...(await open()), ...personFields(1), ...codes };
  const unseen = await send(form);
  expect([unseen.status, await countBookings(me)]).toEqual([409, 0]);
  expect(readMain(unseen)).toContain('Nothing is booked yet.');
  const checked = await send(form, 'check');
  expect(checked.status).toBe(200);
  expect(readMain(checked)).toContain(
    '|Discount|-NOK 125.00|Total with VAT|NOK 1,125.00|VAT included|NOK 225.00|Paid by voucher|-NOK 500.00|To pay|NOK 625.00|',
  );
  const booked = await send(readFormFields(checked));
  expect(booked.status).toBe(303);
  expect(readMain(await anyone.get(booked.headers['location'] as string))).toContain(
    '|Paid|NOK 500.00|To pay|NOK 625.00|',
  );
  expect(await ordersOf(me)).toMatchObject([{ total: '1125.00' }]);
  const wrong = await send({ ...form, campaign_code: 'ELEVEN' }, 'check');
  expect([wrong.status, readMain(wrong).includes('The campaign code is not valid for this booking')]).toEqual([
    400,
    true,
  ]);
});

test('a company pays with the fields of its invoice; a person who pays has none of them', async () => {
  const { me, open, send } = await school();
  const company = { company: 'Fjord AS', company_number: '923609016', gln_number: '7080001113360' };
  const invoice = {
    ...{ invoice_reference: 'PO 7', invoice_address_1: 'Kaia 1', invoice_zipcode: '5600', invoice_city: 'Norheimsund' },
    ...{ invoice_email: 'invoice@firm.example', booker_name: 'Ola', booker_email: 'ola@firm.example' },
  };
  for (const kind of ['company', 'private'])
    expect((await send({ ...(await open()), ...personFields(1), ...company, ...invoice, kind })).status).toBe(303);
  const common = {
    ...{ booker: 'Ola', booker_email: 'ola@firm.example', your_reference: 'PO 7', invoice_address: 'Kaia 1' },
    ...{ invoice_zipcode: '5600', invoice_city: 'Norheimsund', invoice_email: 'invoice@firm.example' },
  };
  expect(await ordersOf(me)).toMatchObject([
    { ...common, gln_number: '7080001113360', custom_properties: { company: 'Fjord AS', company_number: '923609016' } },
    { ...common, gln_number: null, custom_properties: null },
  ]);
});

test('a participant chooses one of the products of the course', async () => {
  const { me, courseId, open, send } = await school();
  await write(me, async (tx, now) => {
    const values = { providerId: me.id, courseId, title: 'Members', itemNumber: 'M', price: '400', currency: 'NOK' };
    await tx.insert(products).values({ ...values, vatPercentage: '25', createdAt: now, updatedAt: now } as never);
  });
  const form = { ...(await open()), ...personFields(1) };
  const page = readFormFields(await send(form, 'check'));
  const [{ id }] = (await rowsOf(me, `select id from products where provider_id = $1 and title = 'Members'`)) as [any];
  expect(page['product_1']).not.toBe(String(id));
  const checked = await send({ ...page, product_1: String(id) }, 'check');
  expect(readMain(checked)).toContain('|Members × 1|NOK 500.00|');
  expect((await send(readFormFields(checked))).status).toBe(303);
  expect(await ordersOf(me)).toMatchObject([{ total: '500.00' }]);
});

test('a full date books onto the waiting list, and says so; without one it cannot be booked', async () => {
  const { me, base, url, open, send, dateId } = await school({ date: { capacityMax: 1, capacityWait: 2 } });
  const two = { ...(await open()), ...personFields(1), ...personFields(2) };
  const shown = await send(two, 'check');
  expect(readMain(shown)).toContain(
    '|On the waiting list: Kari2 Nordmann. The booking binds you to pay if you get a place.|',
  );
  expect((await send(readFormFields(shown))).status).toBe(303);
  const full = await anyone.get(url);
  expect(full.text).toContain('<h1>Join the waiting list: Knots</h1>');
  expect(full.text).toContain('>Join the waiting list, with obligation to pay for a place</button>');
  const booked = await send({ ...readFormFields(full), ...personFields(1, { firstname: 'Kari3' }) });
  expect(await statusesOnDate(me, dateId)).toEqual([1, 3, 3]);
  const confirmation = readMain(await anyone.get(booked.headers['location'] as string));
  expect(confirmation).toContain('|Kari3 Nordmann: On the waiting list|');
  const closed = await anyone.get(url);
  expect([closed.status, closed.headers['location']]).toEqual([303, `${base}/dates/knots-${dateId}`]);
  const refused = await send({ ...two, key: 'a'.repeat(22) });
  expect([refused.status, readFormFields(refused)['email_2']]).toEqual([409, 'kari2@form.example']);
  expect(readMain(refused)).toContain('|The date is fully booked. Nothing was booked.|');
});

test('a form whose last place is taken meanwhile says that the date is full, and offers no waiting list', async () => {
  const { me, url, open, send, dateId } = await school({ date: { capacityMax: 2 } });
  const two = { ...(await open()), ...personFields(1), ...personFields(2) };
  await book(me, dateId, { participants: [person()] });
  const tooMany = await send(two);
  expect([tooMany.status, await countBookings(me)]).toEqual([409, 1]);
  expect(readMain(tooMany)).toContain('|There are not enough places left. Nothing was booked.|');
  await book(me, dateId, { participants: [person()] });
  const full = await send(two);
  expect([full.status, readFormFields(full)['email_2'], await countBookings(me)]).toEqual([
    ...[409, 'kari2@form.example', 2],
  ]);
  expect(full.text).toContain('<h1>Book: Knots</h1>');
  expect(readMain(full)).toContain('|The date is fully booked. Nothing was booked.|');
  expect(full.text).not.toMatch(/waiting list|not enough places/);
  const inNorwegian = await anyone.post(`${url}?lang=no`, { ...two, action: 'book' });
  expect(readMain(inNorwegian)).toContain('|Datoen er fullbooket. Ingenting ble bestilt.|');
  const faulty = await send({ ...two, email_1: '' });
  expect([faulty.status, readMain(faulty).includes('E-mail (Participant 1) is missing')]).toEqual([400, true]);
});

test('a person who waits is confirmed on the waiting list, and owes nothing yet', async () => {
  const { url, send, open } = await school({ date: { capacityMax: 1, capacityWait: 3 } });
  const book = async (lang: string, ...numbers: number[]) => {
    const form = { ...(await open()), ...Object.assign({}, ...numbers.map((n) => personFields(n))) } as FormFields;
    const shown = readFormFields(await send(form, 'check'));
    const booked = await anyone.post(`${url}?lang=${lang}`, { ...shown, action: 'book' });
    return anyone.get(booked.headers['location'] as string);
  };
  const some = readMain(await book('en', 1, 2));
  expect(some).toContain('|Thank you for your booking|');
  expect(some).toContain('|Not everybody has a place yet: see who is on the waiting list.');
  expect(some).toContain('|To pay|NOK 2,500.00|The places on the waiting list are due only if you get them.|');
  const all = await book('en', 1);
  expect(all.text).toContain('<title>You are on the waiting list – ');
  expect(readMain(all)).toMatch(/^\|You are on the waiting list\|Knots, /);
  expect(readMain(all)).toContain('|The school tells you if a place becomes free.|');
  expect(readMain(all)).toContain('|To pay|Nothing to pay now. NOK 1,250.00 is due if you get a place.|');
  const norwegian = readMain(await book('no', 1));
  expect(norwegian).toMatch(/^\|Du står på venteliste\|Knots, [a-zø]+dag \d/);
  expect(norwegian).toContain('|Å betale|Ingenting å betale nå. Får du plass, skal du betale 1 250,00 kr.|');
});

test('a price that has changed is shown again, and a place that has become one of the waiting list', async () => {
  const { me, courseId, dateId, open, send } = await school({ date: { capacityMax: 1, capacityWait: 5 } });
  const form = { ...(await open()), ...personFields(1) };
  await write(me, (tx) => tx.update(products).set({ price: '1100' }).where(eq(products.courseId, courseId)));
  const shown = await send(form);
  expect([shown.status, await countBookings(me)]).toEqual([409, 0]);
  expect(readMain(shown)).toContain('|NOK 1,375.00|');
  const again = readFormFields(shown);
  expect(again).toMatchObject({ key: form['key'], firstname_1: 'Kari1' });
  await book(me, dateId, { participants: [person()] });
  const waits = await send(again);
  expect([waits.status, await countBookings(me)]).toEqual([409, 1]);
  expect(readMain(waits)).toContain('You join the waiting list');
  expect((await send(readFormFields(waits))).status).toBe(303);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 3]);
});

test('a form that is sent twice, or 20 times at once, books once', async () => {
  const { me, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  const at = await Promise.all(Array.from({ length: 20 }, () => send(form)));
  expect(new Set(at.map(({ status, headers }) => `${status} ${String(headers['location'])}`)).size).toBe(1);
  expect((await send({ ...form, firstname_1: 'Other' })).status).toBe(409);
  expect([await countBookings(me), (await mailsOf(me)).length]).toEqual([1, 1]);
});

test('a form without the key that it was shown with books nothing', async () => {
  const { me, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  expect([(await send({ ...form, key: '' })).status, (await send({ ...form, key: '../../x' })).status]).toEqual([
    409, 409,
  ]);
  expect(await countBookings(me)).toBe(0);
});

test('a confirmation ends after 24 hours, and an unknown key is answered as an ended one', async () => {
  const { me, base, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  const url = (await send(form)).headers['location'] as string;
  await write(me, (tx) =>
    tx.$client.query(`update catalog_posts set created_at = created_at - interval '24 hours' where provider_id = $1`, [
      me.id,
    ]),
  );
  const ended = await anyone.get(url);
  const unknown = await anyone.get(`${base}/booked/${'x'.repeat(22)}`);
  expect([ended.status, unknown.status, readMain(ended)]).toEqual([410, 410, readMain(unknown)]);
  expect((await anyone.get(`${base}/booked/short`)).status).toBe(404);
  const other = await school();
  expect((await anyone.get(`${other.base}/booked/${form['key']}`)).status).toBe(410);
});

test('links and hashes of addresses need the secret of the database, and links of before stay valid', async () => {
  const { me, open, send } = await school();
  const form: FormFields = { ...(await open()), ...personFields(1) };
  const url = (await send(form)).headers['location'] as string;
  const ctx = await me.ctx();
  const current = await toToken(ctx, form['key']!);
  const former = `${me.id}_${hash('sha256', `booking link\n${me.id}\n${form['key']}`, 'base64url')}`;
  const linkOf = async () => /href="[^"]*\/my\/booking\/([^"]*)"/.exec((await anyone.get(url)).text)?.[1];
  expect([await linkOf(), (await anyone.get(`/my/booking/${former}`)).status]).toEqual([current, 410]);
  const [post] = await rowsOf(me, 'select address_hash, recipients from catalog_posts where provider_id = $1');
  expect(post!['address_hash']).toBe(await hashAddress(ctx, '127.0.0.1'));
  const withoutSecret = ['127.0.0.1', 'kari1@form.example'].map((one) => hash('sha256', `${me.id} ${one}`));
  for (const one of withoutSecret) expect([post!['address_hash'], ...post!['recipients']]).not.toContain(one);

  const setLink = (token: string) =>
    write(me, (tx) =>
      tx.$client.query('update booking_links set hash = $2 where provider_id = $1', [me.id, hashSecret(token)]),
    );
  await setLink(former);
  expect([await linkOf(), (await anyone.get(`/my/booking/${former}`)).status]).toEqual([undefined, 200]);
  await setLink(current);
  await write(me, (tx) => tx.$client.query('delete from catalog_posts where provider_id = $1', [me.id]));
  expect((await send(form)).status).toBe(410);
});

test('the link of the receipt and that of the confirmation both work', async () => {
  const { me, open, send } = await school();
  const url = (await send({ ...(await open()), ...personFields(1) })).headers['location'] as string;
  const [{ id: bookingId }] = (await rowsOf(me, 'select id from bookings where provider_id = $1')) as [any];
  const [{ id: mailId }] = (await rowsOf(me, 'select id from outbox where provider_id = $1')) as [any];
  const subject = { providerId: me.id, bookingId: Number(bookingId), participantId: null };
  const on = (await me.ctx()).unlockedStore;
  const linkOf = async () => /href="[^"]*(\/my\/booking\/[^"]*)"/.exec((await anyone.get(url)).text)?.[1];
  const link = (await linkOf())!;
  const mailed = await createLink(on, subject, { mailId: Number(mailId), replaces: 'mailed' });
  const statuses = async () => [
    ...[(await anyone.get(link)).status, (await anyone.get(`/my/booking/${mailed}`)).status],
  ];
  expect(await statuses()).toEqual([200, 200]);
  await createLink(on, subject, { replaces: 'none' });
  expect(await statuses()).toEqual([200, 200]);
  await createLink(on, subject);
  expect([await statuses(), await linkOf()]).toEqual([[410, 410], undefined]);
});

test('a form of another site, and one with the hidden field filled in, book nothing', async () => {
  const { me, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  const forged = [
    await send(form, 'book', { origin: 'https://evil.example' }),
    await send(form, 'book', { 'sec-fetch-site': 'cross-site' }),
    await send({ ...form, website: 'https://spam.example' }),
  ];
  expect(forged.map(({ status }) => status)).toEqual([403, 403, 429]);
  expect(readMain(forged[0]!)).toContain('Nothing was booked or changed.');
  // A browser may have filled the hidden field in: nothing that was typed is lost.
  expect(readMain(forged[2]!)).toContain('Nothing was booked.');
  expect(readFormFields(forged[2]!)).toMatchObject(form);
  expect(await countBookings(me)).toBe(0);
  expect((await send(form, 'book', { origin: settings.publicUrl, 'sec-fetch-site': 'same-origin' })).status).toBe(303);
});

test('a recipient gets 5 mails a day, then bookings are made without', async () => {
  const { me, open, send } = await school({ date: { capacityMax: 0 } });
  await me.put('/v2/booking-settings', { mails: { receipt: true } });
  const to = (email: string) => ({ email });
  const bookFor = async (fields: FormFields) => {
    const shown = await send({ ...(await open()), ...fields }, 'check');
    return readMain(await anyone.get((await send(readFormFields(shown))).headers['location'] as string));
  };
  const victim = { ...personFields(1, to('Victim@x.example')), ...personFields(2, to('victim@X.example')) };
  expect(await bookFor(victim)).toContain('We have sent a receipt to Victim@x.example.');
  expect(await mailsOf(me)).toHaveLength(3);
  await bookFor({ ...victim, ...personFields(2, to('other@x.example')) });
  expect((await mailsOf(me)).slice(3)).toEqual([
    { purpose: 'receipt', to: 'Victim@x.example' },
    { purpose: 'receipt', to: 'other@x.example' },
    { purpose: 'booking_receipt', to: 'Victim@x.example' },
  ]);
  expect(await bookFor(victim)).toContain('No receipt was sent by e-mail.');
  expect([await countBookings(me), (await mailsOf(me)).length]).toEqual([3, 6]);
  const other = await school();
  await other.send({ ...(await other.open()), ...personFields(1, to('victim@x.example')) });
  expect(await mailsOf(other.me)).toHaveLength(1);
});

test('a recipient gets no more than 5 mails a day, also by canceling and under other names', async () => {
  const { me, open, send } = await school({ date: { capacityMax: 0 } });
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const countMails = async () =>
    Number((await rowsOf(me, 'select count(*) from outbox where provider_id = $1'))[0]!['count']);
  const all = Array.from({ length: 8 }, (_person, n) => personFields(n + 1, { email: 'victim@form.example' }));
  const shown = await send(Object.assign(await open(), ...all) as FormFields, 'check');
  const confirmed = await anyone.get((await send(readFormFields(shown))).headers['location'] as string);
  const link = /href="[^"]*(\/my\/booking\/[^"]*)"/.exec(confirmed.text)![1]!;
  const cancel = async () => {
    const [, path] = /href="([^"]*\/cancel\/\d+)"/.exec((await anyone.get(link)).text)!;
    const form = readFormFields(await anyone.get(path!));
    expect((await anyone.post(path!, form)).status).toBe(200);
  };
  for (let n = 0; n < 8; n += 1) await cancel();
  expect(await countMails()).toBe(5);

  const tagged = (n: number) => ({ ...personFields(1, { email: `other+${n}@form.example` }) });
  for (let n = 0; n < 7; n += 1) expect((await send({ ...(await open()), ...tagged(n) })).status).toBe(303);
  expect(await countMails()).toBe(10);
});

test('places of free courses count in the limit of an address', async () => {
  const { me, open, send } = await school({ date: { course: { price_value: 0 }, capacityMax: 0 } });
  const all = Array.from({ length: 20 }, (_person, n) => personFields(n + 1));
  const statuses = [];
  for (let n = 0; n < 3; n += 1) {
    const shown = await send(Object.assign(await open(), ...all) as FormFields, 'check');
    statuses.push((await send(readFormFields(shown))).status);
  }
  expect([statuses, await countBookings(me)]).toEqual([[303, 303, 429], 2]);
});

test('a recipient with a tag is one in a form, too', async () => {
  const { me, open, send } = await school({ date: { capacityMax: 0 } });
  await me.put('/v2/booking-settings', { mails: { receipt: true } });
  const all = Array.from({ length: 20 }, (_person, n) => personFields(n + 1, { email: `victim+${n}@form.example` }));
  const shown = await send(Object.assign(await open(), ...all) as FormFields, 'check');
  expect((await send(readFormFields(shown))).status).toBe(303);
  expect(await mailsOf(me)).toHaveLength(5);
});

test('the longest form fits into 64 kB, and a longer body is refused before it is read', async () => {
  const uses = { phone: 'required', company: 'required', position: 'required', comment: 'required' };
  const { me, url, open, send } = await school({
    date: { capacityMax: 0 },
    catalog: { fields: { ...uses, date_of_birth: 'required' } },
  });
  const persons = Array.from({ length: 20 }, (_person, n) =>
    personFields(n + 1, { phone: '1', company: 'x', position: 'x', comment: 'x', date_of_birth: '2000-01-01' }),
  );
  const shown = await send(Object.assign(await open(), ...persons) as FormFields, 'check');
  const lengths = [...shown.text.matchAll(/<(?:input|textarea)[^>]* name="(\w+)"[^>]*>/g)].flatMap(([tag, name]) => {
    const [, length] = /maxlength="(\d+)"/i.exec(tag) ?? [];
    return length === undefined ? [] : [[name!, Number(length)] as const];
  });
  expect(lengths.length).toBeGreaterThan(130);
  const longest = lengths.map(([name, length]) => {
    const text = /email/.test(name) ? `${'+'.repeat(length - 10)}@a.example` : '語'.repeat(length);
    return [name, text];
  });
  const form = { ...readFormFields(shown), ...(Object.fromEntries(longest) as FormFields) };
  const size = new URLSearchParams({ ...form, action: 'book' }).toString().length;
  expect(size).toBeLessThanOrEqual(65_536);
  expect((await send(form)).status).toBe(400);
  const tooLong = await anyone.post(url, { ...form, company: 'x'.repeat(65_537) });
  expect([tooLong.status, tooLong.headers['content-type']]).toEqual([413, 'text/html; charset=utf-8']);
  expect(await countBookings(me)).toBe(0);
});

test('a date that has moved is shown again', async () => {
  const { me, dateId, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  await changeDate(me, dateId, { startAt: '2031-01-05', endAt: '2031-01-05', deadlineAt: '2031-01-05' });
  const shown = await send(form);
  expect([shown.status, await countBookings(me), readMain(shown).includes('5 January 2031')]).toEqual([409, 0, true]);
  expect((await send(readFormFields(shown))).status).toBe(303);
});

/** The type of a body that is not valid. */
const json = { 'content-type': 'application/json' };

test('an address has limits for posts, bookings and places; those of others are not affected', async () => {
  const own = await openTestApp(database, { trustProxy: ['127.0.0.1'] });
  try {
    const browser = visitor(own.app);
    const { me, url, open } = await school({ date: { capacityMax: 0 } });
    const sendFrom = async (ip: string, fields: FormFields, action = 'book') =>
      browser.post(url, { ...fields, action }, { 'x-forwarded-for': ip });
    const bookFrom = async (ip: string, persons: number) => {
      const all = Array.from({ length: persons }, (_person, n) => personFields(n + 1));
      const shown = await sendFrom(ip, Object.assign(await open(), ...all) as FormFields, 'check');
      const fields = readFormFields(shown);
      const answer = await sendFrom(ip, fields);
      if (answer.status === 429) expect(readFormFields(answer)).toEqual(fields);
      return answer.status;
    };
    expect([await bookFrom('192.0.2.1', 20), await bookFrom('192.0.2.1', 20), await bookFrom('192.0.2.1', 11)]).toEqual(
      [...[303, 303, 429]],
    );
    expect([await bookFrom('192.0.2.1', 10), await bookFrom('192.0.2.2', 1)]).toEqual([303, 303]);
    await write(me, (tx) => tx.$client.query('update orders set is_paid = true where provider_id = $1', [me.id]));
    expect(await bookFrom('192.0.2.1', 1)).toBe(303);
    await write(me, (tx) =>
      tx.$client.query(
        `insert into catalog_posts select provider_id, key_hash || n, booking_id, address_hash, '{}', 0, created_at
          from catalog_posts, generate_series(1, 26) n where provider_id = $1 and places = 11 or provider_id = $1 and places = 10`,
        [me.id],
      ),
    );
    expect([await bookFrom('192.0.2.1', 1), await bookFrom('192.0.2.2', 1)]).toEqual([429, 303]);

    const empty = await open();
    const from = async (ip: string) => (await sendFrom(ip, empty, 'check')).status;
    for (let n = 0; n < 30; n += 1) expect(await from(`2001:db8::${n + 1}`)).toBe(200);
    expect([await from('2001:db8::ffff'), await from('2001:db8:0:1::1')]).toEqual([429, 200]);
    const malformed = await browser.post(url, {}, { ...json, 'x-forwarded-for': '2001:db8::1' });
    expect([malformed.status, malformed.headers['retry-after']]).toEqual([429, expect.stringMatching(/^[1-9]\d?$/)]);
  } finally {
    await own.app.close();
  }
});

test('only public dates that are open are booked, others as if they were not there', async () => {
  const { me, base, courseId, open } = await school();
  const other = await school();
  const form = { ...(await open()), ...personFields(1), action: 'book' } as FormFields;
  const hidden = await addDate(me, courseId, { isVisible: false });
  const internal = await addDate(me, await me.course({ type: 'internal' }));
  for (const id of [hidden, internal, other.dateId, 999_999_999]) {
    const url = `${base}/dates/knots-${id}/book`;
    expect([id, (await anyone.get(url)).status, (await anyone.post(url, form)).status]).toEqual([id, 404, 404]);
  }
  const past = await addDate(me, courseId, { deadlineAt: '2020-01-01', visibleWhenPassedDeadline: true });
  const canceled = await addDate(me, courseId, { statusId: 3 });
  const postponed = await addDate(me, courseId, { statusId: 4 });
  for (const id of [past, canceled, postponed]) {
    const url = `${base}/dates/knots-${id}/book`;
    const [shown, sent] = [await anyone.get(url), await anyone.post(url, form)];
    expect([id, shown.status, shown.headers['location'], sent.status]).toEqual([
      ...[id, 303, `${base}/dates/knots-${id}`, 400],
    ]);
  }
  expect([await countBookings(me), await countBookings(other.me)]).toEqual([0, 0]);
});

test('a date that is booked elsewhere redirects there, and its form books nothing', async () => {
  const { me, base, url, open, send, dateId } = await school();
  const form = { ...(await open()), ...personFields(1) };
  await changeDate(me, dateId, { externalBookingUrl: 'https://elsewhere.example/book' });
  const [shown, sent] = [await anyone.get(url), await send(form)];
  expect([shown.status, shown.headers['location']]).toEqual([303, 'https://elsewhere.example/book']);
  expect([sent.status, sent.headers['location'], await countBookings(me)]).toEqual([
    ...[303, `${base}/dates/knots-${dateId}`, 0],
  ]);
});

test('a form on a host name of its own accepts its own origin alone', async () => {
  const { me, dateId } = await school();
  const { host, at } = await openOwnHost({ database }, me);
  const url = `/dates/knots-${dateId}/book`;
  const form = { ...readFormFields(await at.get(url)), ...personFields(1), action: 'book' } as FormFields;
  const foreign = await at.post(url, form, { origin: settings.publicUrl });
  expect([foreign.status, await countBookings(me)]).toEqual([403, 0]);
  const booked = await at.post(url, form, { origin: `http://${host}` });
  expect([booked.status, booked.headers['location']]).toEqual([303, `/booked/${form['key']}`]);
  expect((await at.get(`/booked/${form['key']}`)).status).toBe(200);
});

test('with REQUIRE_HTTPS a form over plain http is redirected, and refused when it was sent', async () => {
  const own = await openTestApp(database, { requireHttps: true, trustProxy: ['127.0.0.1'] });
  try {
    const { url, open, me } = await school();
    const browser = visitor(own.app);
    const form = { ...(await open()), ...personFields(1), action: 'book' } as FormFields;
    const shown = await browser.get(url);
    expect([shown.status, shown.headers['location']]).toEqual([308, `${settings.publicUrl}${url}`]);
    expect([(await browser.post(url, form)).status, await countBookings(me)]).toEqual([403, 0]);
    expect((await browser.post(url, form, { 'x-forwarded-proto': 'https' })).status).toBe(303);
  } finally {
    await own.app.close();
  }
});
