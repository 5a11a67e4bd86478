import { eq } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { products } from '../../../src/database/tables/courses.ts';
import { bookings } from '../../../src/database/tables/orders.ts';
import { findDate } from '../../../src/domains/bookings/booking/sql.ts';
import { book, createVoucher } from '../../support/booking.ts';
import { personFields, readFormFields, readMain, type FormFields } from '../../support/catalog-form.ts';
import { changeDate } from '../../support/dates.ts';
import { openFormSchool } from '../../support/form-school.ts';
import { write } from '../../support/orders.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { limits, openTestApp, sharedTestApp, type Provider } from '../../support/test-app.ts';
import { visitor } from '../../support/pages.ts';

const testApp = await sharedTestApp();
const { database } = testApp;
const school = (options?: Parameters<typeof openFormSchool>[1]) => openFormSchool(testApp, options);

const numBookings = (me: Provider) => database.db.$count(bookings, eq(bookings.providerId, me.id));
const addCampaign = async (me: Provider, fields: Record<string, unknown> = {}) => {
  const discount = { discount_type: 'Percent', discount_value: 10, active: true };
  const campaign = { type: 'Campaign', title: 'Ten', campaign_code: 'TEN', ...discount, ...fields };
  expect((await me.post('/v2/campaigns', campaign)).status).toBe(201);
};
const addTier = (me: Provider, courseId: number) =>
  write(me, async (tx, now) => {
    const tier = { title: 'Members', price: '500', currency: 'NOK', createdAt: now, updatedAt: now };
    const [made] = await tx
      .insert(products)
      .values({ ...tier, providerId: me.id, courseId })
      .returning({ id: products.id });
    return made!.id;
  });

const [chosen, changed] = [
  'This is the price of what you have chosen.',
  'The price, the places or the time have changed.',
];

test.each<[string, (me: Provider, courseId: number) => Promise<FormFields>]>([
  ['tier', async (me, courseId) => ({ product_1: String(await addTier(me, courseId)) })],
  ['campaign', async (me) => (await addCampaign(me), { campaign_code: 'TEN' })],
  ['voucher', async (me) => ({ voucher_code: (await createVoucher(me, { amount: '300.00' })).code })],
])(
  'a chosen %s shows its price before it is booked, and does not say that the price has changed',
  async (_name, add) => {
    const { me, courseId, open, send } = await school();
    const fields = await add(me, courseId);
    const form = { ...(await open()), ...personFields(1), ...fields };
    const shown = await send(form);
    expect([shown.status, readMain(shown).includes(chosen), readMain(shown).includes(changed)]).toEqual([
      409,
      true,
      false,
    ]);
    expect((await send(readFormFields(shown))).status).toBe(303);
  },
);

test('a price, a place or a time that has changed is told as such', async () => {
  const { me, dateId, open, send } = await school();
  const form = { ...(await open()), ...personFields(1) };
  await changeDate(me, dateId, { startTimeAt: '11:00' });
  const shown = await send(form);
  expect([shown.status, readMain(shown).includes(chosen), readMain(shown).includes(changed)]).toEqual([
    409,
    false,
    true,
  ]);
});

test('a code that was chosen and removed again needs no other look at the price', async () => {
  const { me, open, send } = await school();
  await addCampaign(me);
  const form = { ...(await open()), ...personFields(1) };
  await send({ ...form, campaign_code: 'TEN' });
  expect((await send(form)).status).toBe(303);
});

test.each(['book', 'check'])('a voucher that is used up is named: %s', async (action) => {
  const { me, open, send } = await school();
  const { code } = await createVoucher(me, { amount: '300.00', balance: '0.00' });
  const form = { ...(await open()), ...personFields(1), voucher_code: code };
  const shown = await send(form, action);
  expect([shown.status, await numBookings(me)]).toEqual([400, 0]);
  expect(readMain(shown).split('The voucher is used up, and pays nothing').length).toBe(3);
  expect(readMain(shown)).toContain('|To pay|NOK 1,250.00|');
  expect((await send({ ...readFormFields(shown), voucher_code: '' })).status).toBe(303);
});

test('a voucher of which a part is left pays it, and one for a course free of charge is no fault', async () => {
  const { me, open, send } = await school();
  const { code } = await createVoucher(me, { amount: '300.00', balance: '0.01' });
  const checked = await send({ ...(await open()), ...personFields(1), voucher_code: code }, 'check');
  expect([checked.status, readMain(checked).includes('|Paid by voucher|-NOK 0.01|')]).toEqual([200, true]);
  const free = await school({ date: { course: { price_value: 0 } } });
  const spent = await createVoucher(free.me, { amount: '300.00', balance: '0.00' });
  const form = { ...(await free.open()), ...personFields(1), voucher_code: spent.code };
  expect((await free.send(readFormFields(await free.send(form, 'check')))).status).toBe(303);
});

test('a code in the field of the other kind is named, and an unknown one is not valid', async () => {
  const { me, open, send } = await school();
  await addCampaign(me);
  await addCampaign(me, { campaign_code: 'OLD', title: 'Old', ends_at: '2020-01-01' });
  const { code } = await createVoucher(me, { amount: '300.00' });
  const spent = await createVoucher(me, { amount: '300.00', balance: '0.00' });
  const form = { ...(await open()), ...personFields(1) };
  const read = async (fields: FormFields) => readMain(await send({ ...form, ...fields }));
  const ofVoucher = 'This is the code of a voucher: write it in the field “Voucher code”';
  const ofCampaign = 'This is the code of a campaign: write it in the field “Campaign code”';
  for (const one of [code, spent.code, code.toLowerCase()])
    expect((await read({ campaign_code: one })).split(ofVoucher).length).toBe(3);
  for (const one of ['TEN', 'ten', 'OLD']) expect((await read({ voucher_code: one })).split(ofCampaign).length).toBe(3);
  const swapped = await read({ campaign_code: code, voucher_code: 'TEN' });
  expect([swapped.includes(ofVoucher), swapped.includes(ofCampaign)]).toEqual([true, true]);
  const unknown = await read({ campaign_code: 'NONE', voucher_code: 'NONE' });
  expect(unknown).toContain('The campaign code is not valid for this booking');
  expect(unknown).toContain('The voucher code is not valid');
  expect(unknown).toContain('|To pay|NOK 1,250.00|');
  expect(await numBookings(me)).toBe(0);
});

test('the code of an archived or deleted voucher or campaign is not valid in either field', async () => {
  const { me, open, send } = await school();
  await addCampaign(me);
  const [campaign] = (await me.get('/v2/campaigns')).json<{ id: number }[]>();
  expect((await me.request('DELETE')(`/v2/campaigns/${campaign!.id}`)).status).toBe(200);
  const archived = await createVoucher(me, { amount: '300.00' });
  expect((await me.request('DELETE')(`/v2/vouchers/${archived.id}`)).status).toBe(200);
  const deleted = await createVoucher(me, { amount: '300.00', deletedAt: '2026-01-01' });
  const form = { ...(await open()), ...personFields(1) };
  for (const { code } of [archived, deleted])
    expect(readMain(await send({ ...form, campaign_code: code }))).toContain(
      'The campaign code is not valid for this booking',
    );
  expect(readMain(await send({ ...form, voucher_code: 'TEN' }))).toContain('The voucher code is not valid');
});

test('the code of a campaign for other courses is not valid in either field', async () => {
  const { me, open, send } = await school();
  await addCampaign(me, { courses: [await me.course({ title: 'Ropes' })] });
  const form = { ...(await open()), ...personFields(1) };
  for (const [name, text] of [
    ['campaign_code', 'The campaign code is not valid for this booking'],
    ['voucher_code', 'The voucher code is not valid'],
  ] as const)
    expect(readMain(await send({ ...form, [name]: 'TEN' }))).toContain(text);
});

test.each(['book', 'check'])('a form with two wrong codes is priced twice: %s', async (action) => {
  const { me, open, send } = await school();
  const { code } = await createVoucher(me, { amount: '300.00' });
  const form = { ...(await open()), ...personFields(1), campaign_code: code, voucher_code: 'NONE' };
  const sent = await recordStatements(async () => expect((await send(form, action)).status).toBe(400));
  expect(sent.filter(({ name }) => name === findDate.name).length).toBe(2);
});

const company = { kind: 'company', company: 'Fjord AS' };
const [orgnr, gln, zip] = [
  'The organization number is not a valid Norwegian one.',
  'The GLN is not valid: it has 13 digits, the last of which is a check digit.',
  'The postal code is not a Norwegian one of four digits.',
];
test.each<[string, string, string]>([
  ...['912345678', '12345', 'abc', '987654321'].map((value): [string, string, string] => [
    'company_number',
    value,
    orgnr,
  ]),
  ...['123456789012', 'abc', '7080001113361'].map((value): [string, string, string] => ['gln_number', value, gln]),
  ...['150', 'abc', '50031'].map((value): [string, string, string] => ['invoice_zipcode', value, zip]),
])('%s %s is a warning that one can pass', async (name, value, text) => {
  const { me, open, send } = await school();
  const form = { ...(await open()), ...personFields(1), ...company, [name]: value };
  const warned = await send(form);
  expect([warned.status, readMain(warned).split(text).length, await numBookings(me)]).toEqual([400, 3, 0]);
  const fields = readFormFields(warned);
  expect(fields).toMatchObject({ [name]: value });
  const other = await send({ ...fields, [name]: `x${value}` });
  expect([other.status, readMain(other).includes(text)]).toEqual([400, true]);
  expect((await send(fields)).status).toBe(303);
  expect(await numBookings(me)).toBe(1);
});

test('a warning of the price update is passed, and is not repeated beside other faults', async () => {
  const { open, send } = await school();
  const checked = await send({ ...(await open()), ...personFields(1), invoice_zipcode: 'SW1A 1AA' }, 'check');
  expect([checked.status, readMain(checked).split(zip).length]).toEqual([400, 3]);
  const faulty = await send({ ...readFormFields(checked), firstname_1: '' });
  expect([faulty.status, readMain(faulty).includes(zip)]).toEqual([400, false]);
  expect((await send({ ...readFormFields(faulty), firstname_1: 'Kari' })).status).toBe(303);
});

test('valid Norwegian values, and those that are not booked, need no warning', async () => {
  const { open, send } = await school();
  const valid: FormFields[] = [
    { ...company, company_number: '923609016', gln_number: '7080001113360', invoice_zipcode: '5003' },
    { ...company, company_number: 'NO 923 609 016 MVA', gln_number: '7080 0011 13360', invoice_zipcode: ' N-5003 ' },
    { company_number: '12345', gln_number: 'abc' },
  ];
  for (const fields of valid)
    expect((await send({ ...(await open()), ...personFields(1), ...fields })).status).toBe(303);
});

test('the interface takes any organization number, GLN and postal code', async () => {
  const { me, dateId } = await school();
  const invoice = { company: 'x', company_number: '12345', gln_number: 'abc', invoice_zipcode: '150' };
  expect((await book(me, dateId, invoice)).status).toBe(201);
});

test.each(['1990-05-17', '17.05.1990', '17.5.1990', ' 17. 5. 1990 '])('a date of birth may be %j', async (text) => {
  const { me, open, send } = await school({ catalog: { fields: { date_of_birth: 'optional' } } });
  const form = { ...(await open()), ...personFields(1, { date_of_birth: text }) };
  expect(readFormFields(await send(form, 'check'))['date_of_birth_1']).toBe('1990-05-17');
  expect((await send(form)).status).toBe(303);
  const query = 'select date_of_birth::text as born from course_users where provider_id = $1';
  expect((await database.pool.query(query, [me.id])).rows).toEqual([{ born: '1990-05-17' }]);
});

test.each(['17/05/1990', '17.05.90', '31.02.1990', '1990', 'x', '17.05.2190'])(
  'a date of birth that is not valid is told the form: %j',
  async (text) => {
    const { open, send } = await school({ catalog: { fields: { date_of_birth: 'optional' } } });
    const shown = await send({ ...(await open()), ...personFields(1, { date_of_birth: text }) });
    const told = 'Date of birth (Participant 1) is not valid. Write a day in the past, for example 17.05.1990';
    expect([shown.status, readMain(shown).split(told).length]).toEqual([400, 3]);
  },
);

test('a name that is too long is told the length', async () => {
  const { open, send } = await school();
  const form = await open();
  const long = (label: string) =>
    `${label} is not valid: a name may have 255 characters, and both names of the payer together`;
  for (const [fields, label] of [
    [personFields(1, { firstname: 'a'.repeat(255), lastname: 'b'.repeat(255) }), 'First name (Participant 1)'],
    [personFields(1, { lastname: 'b'.repeat(256) }), 'Last name (Participant 1)'],
    [{ ...personFields(1), ...personFields(2, { firstname: 'a'.repeat(256) }) }, 'First name (Participant 2)'],
    [{ ...personFields(1), booker_name: 'c'.repeat(256), booker_email: 'c@d.example' }, 'Name of the payer'],
  ] as const) {
    const shown = await send({ ...form, ...fields });
    expect([shown.status, readMain(shown).includes(long(label))], label).toEqual([400, true]);
  }
});

test.each([
  ['en', /^\|Too many requests\|Many requests have come .* Please wait a minute, and load the page again\.\|/],
  ['no', /^\|For mange forespørsler\|Det har kommet mange .* Vent et minutt, og last siden på nytt\.\|/],
])('a page that is refused asks nobody to send something again: %s', async (lang, text) => {
  const own = await openTestApp(database, { limits: { ...limits, publicRequestsPerMinute: 5 } });
  onTestFinished(() => own.app.close());
  const { base } = await school();
  const read = (word: string) => visitor(own.app).get(`${base}?q=${word}&lang=${lang}`);
  await read('a');
  const refused = await read('b');
  expect([refused.status, readMain(refused)]).toEqual([429, expect.stringMatching(text)]);
});

test('a form that is refused names the limit and what to do', async () => {
  const own = await openTestApp(database, { trustProxy: ['127.0.0.1'] });
  try {
    const browser = visitor(own.app);
    const { me, url, open } = await school({ date: { capacityMax: 0 } });
    const from = { 'x-forwarded-for': '192.0.2.9' };
    const bookFor = async (persons: number) => {
      const all = Array.from({ length: persons }, (_person, n) => personFields(n + 1));
      const fields: FormFields = Object.assign(await open(), ...all);
      const shown = await browser.post(url, { ...fields, action: 'check' }, from);
      return browser.post(url, { ...readFormFields(shown), action: 'book' }, from);
    };
    for (let n = 0; n < 2; n += 1) expect((await bookFor(20)).status).toBe(303);
    const places = await bookFor(11);
    expect([places.status, readMain(places)]).toEqual([
      429,
      expect.stringMatching(
        /\|Nothing was booked\. At most 50 places .* Please try again tomorrow, or contact the school\.\|/,
      ),
    ]);
    await write(me, (tx) =>
      tx.$client.query(
        `insert into catalog_posts select provider_id, key_hash || n, booking_id, address_hash, '{}', 0, created_at
          from catalog_posts, generate_series(1, 14) n where provider_id = $1`,
        [me.id],
      ),
    );
    const posts = await bookFor(1);
    expect([posts.status, readMain(posts)]).toEqual([
      429,
      expect.stringMatching(
        /\|Nothing was booked\. .* has sent 30 forms within an hour, .* Please try again in an hour/,
      ),
    ]);
    const programmed = await browser.post(url, { ...(await open()), website: 'x', action: 'book' }, from);
    expect([programmed.status, readMain(programmed)]).toEqual([
      429,
      expect.stringContaining('|Nothing was booked. A hidden field of the form was filled in'),
    ]);
    let answer = posts;
    for (let n = 0; n < 30; n += 1) answer = await browser.post(url, { action: 'check' }, from);
    expect([answer.status, readMain(answer)]).toEqual([
      429,
      expect.stringMatching(/^\|Too many requests\|Many requests have come .* Please wait a minute, go back/),
    ]);
  } finally {
    await own.app.close();
  }
});
