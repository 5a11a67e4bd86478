import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { addDate } from '../../support/dates.ts';
import { personFields, readFormFields, readMain, type FormFields } from '../../support/catalog-form.ts';
import { openFormSchool } from '../../support/form-school.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

const bookersOf = async (me: Provider) => {
  const query = 'select booker_email as email from bookings where provider_id = $1 order by id';
  return (await testApp.database.pool.query<{ email: string }>(query, [me.id])).rows.map(({ email }) => email);
};

const [kari, per] = ['kari', 'per'].map((name) => personFields(1, { firstname: name, email: `${name}@form.example` }));
const reused = '|This form has made a booking already, which stays as it is:';

/** A school whose form has booked for Kari. */
async function bookedForm() {
  const school = await openFormSchool(testApp);
  const form = { ...(await school.open()), ...kari! };
  const booked = await school.send(form);
  expect(booked.status).toBe(303);
  return { ...school, form, confirmation: booked.headers['location'] };
}

test('a form that has booked leads to its booking for the same content, also with other blanks and in another language', async () => {
  const { me, send, url, anyone, form, confirmation } = await bookedForm();
  for (const fields of [form, { ...form, firstname_1: ' kari ' }, { ...form, version: '' }]) {
    const again = await send(fields);
    expect([again.status, again.headers['location']]).toEqual([303, confirmation]);
  }
  const norwegian = await anyone.post(`${url}?lang=no`, { ...form, action: 'book' });
  expect([norwegian.status, norwegian.headers['location']]).toEqual([303, `${String(confirmation)}?lang=no`]);
  const checked = await send(form, 'check');
  expect([checked.status, readFormFields(checked)['key']]).toEqual([200, form['key']]);
  expect(await bookersOf(me)).toEqual(['kari@form.example']);
});

test.each(['book', 'check', 'add'])(
  'a form that has booked is shown again for another person with a new key: %s',
  async (action) => {
    const { me, send, form } = await bookedForm();
    const shown = await send({ ...form, ...per!, company: 'Ås & Ski' }, action);
    expect([shown.status, readMain(shown).split(reused).length, await bookersOf(me)]).toEqual([
      ...[action === 'book' ? 409 : 400, 2, ['kari@form.example']],
    ]);
    const fields = readFormFields(shown);
    expect(fields).toMatchObject({ ...per!, company: 'Ås & Ski' });
    expect(fields['key']).not.toBe(form['key']);
    const [removed] = action === 'add' ? [readFormFields(await send(fields, 'remove_2'))] : [fields];
    const booked = await send(removed);
    expect([booked.status, booked.headers['location']]).toEqual([303, expect.stringContaining(fields['key']!)]);
    expect(await bookersOf(me)).toEqual(['kari@form.example', 'per@form.example']);
    expect((await send(form)).headers['location']).toContain(form['key']);
  },
);

test.each<[string, FormFields]>([
  ['another address', { email_1: 'kari2@form.example' }],
  ['a comment', { comment_1: 'No nuts' }],
  ['a faulty address', { invoice_email: 'x@' }],
  ['a payer', { booker_name: 'Boss', booker_email: 'boss@firm.example' }],
  ['a company', { kind: 'company', company: 'Fjord AS' }],
  ['a reference', { invoice_reference: '17' }],
  ['a code', { voucher_code: 'NONE' }],
  ['a second person', personFields(2)],
])('other content is %s', async (_name, fields) => {
  const { me, send, form } = await bookedForm();
  const shown = await send({ ...form, ...fields });
  expect([shown.status, readMain(shown).includes(reused)]).toEqual([409, true]);
  expect(await bookersOf(me)).toEqual(['kari@form.example']);
});

test('a value that is not booked is no other content', async () => {
  const { send, form, confirmation } = await bookedForm();
  const again = await send({ ...form, company: 'Not sent, since a person pays', unknown: 'x' });
  expect([again.status, again.headers['location']]).toEqual([303, confirmation]);
});

test('the key of a form of another date books that date with a new key', async () => {
  const { me, base, courseId, anyone, form } = await bookedForm();
  const url = `${base}/dates/knots-${await addDate(me, courseId, { startAt: '2031-01-01' })}/book`;
  const shown = await anyone.post(url, { ...form, action: 'book' });
  expect([shown.status, readMain(shown).includes(reused)]).toEqual([409, true]);
  expect((await anyone.post(url, { ...readFormFields(shown), action: 'book' })).status).toBe(303);
});

test('forms with one key and other content that are sent at the same time book once, and the other is shown again', async () => {
  const { me, send, open } = await openFormSchool(testApp);
  const form = await open();
  const answers = await Promise.all([send({ ...form, ...kari! }), send({ ...form, ...per! })]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409]);
  const shown = answers.find(({ status }) => status === 409)!;
  expect([readMain(shown).includes(reused), (await bookersOf(me)).length]).toEqual([true, 1]);
  expect((await send(readFormFields(shown))).status).toBe(303);
  expect((await bookersOf(me)).toSorted()).toEqual(['kari@form.example', 'per@form.example']);
});

test('a booking of a server of the version before is confirmed for any content', async () => {
  const { me, send, form, confirmation } = await bookedForm();
  await write(me, (tx) =>
    tx.$client.query('update catalog_posts set fingerprint = null where provider_id = $1', [me.id]),
  );
  expect((await send({ ...form, ...per! })).headers['location']).toBe(confirmation);
});

const outdated = '|This form is out of date.';
const keyOfHours = (hours: number) => {
  const bytes = randomBytes(16);
  bytes.writeUInt32BE(Math.floor(Date.now() / 1_000) - hours * 3_600);
  return bytes.toString('base64url');
};

test.each([
  ['older than its record', keyOfHours(25)],
  ['that ends before its record', keyOfHours(23.1)],
  ['of a clock that is wrong', keyOfHours(-2)],
  ['of the version before', 'x'.repeat(22)],
])('a form with a key %s books nothing, and then with a new key', async (_name, key) => {
  const { me, send, open } = await openFormSchool(testApp);
  const form = { ...(await open()), ...kari!, key };
  for (const action of ['check', 'add', 'book']) {
    const shown = await send(form, action);
    expect([shown.status, readMain(shown).split(outdated).length]).toEqual([action === 'book' ? 409 : 400, 2]);
    expect(readFormFields(shown)).toMatchObject(kari!);
    expect([readFormFields(shown)['key'] === key, await bookersOf(me)]).toEqual([false, []]);
  }
  expect((await send(readFormFields(await send(form)))).status).toBe(303);
  expect((await send(form)).status).toBe(409);
  expect(await bookersOf(me)).toEqual(['kari@form.example']);
});

test.each([22.9, -0.9])('a form that was opened %d hours ago books, and leads to its booking', async (hours) => {
  const { me, send, open } = await openFormSchool(testApp);
  const form = { ...(await open()), ...kari!, key: keyOfHours(hours) };
  for (let n = 0; n < 2; n += 1) expect((await send(form)).status).toBe(303);
  expect(await bookersOf(me)).toEqual(['kari@form.example']);
});

test('a form whose record and link are gone books nothing', async () => {
  const { me, send, open, anyone, base } = await openFormSchool(testApp);
  const key = keyOfHours(22.9);
  const form = { ...(await open()), ...kari!, key };
  expect((await send(form)).headers['location']).toBe(`${base}/booked/${key}`);
  const day = 86_400_000;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + day });
  try {
    for (const table of ['catalog_posts', 'booking_links'])
      await write(me, (tx) => tx.$client.query(`delete from ${table} where provider_id = $1`, [me.id]));
    const shown = await send(form);
    expect([shown.status, readMain(shown).includes(outdated), await bookersOf(me)]).toEqual([
      ...[409, true, ['kari@form.example']],
    ]);
  } finally {
    vi.useRealTimers();
  }
  expect((await anyone.get(`${base}/booked/${key}`)).status).toBe(410);
});

test('no stored value shows what was typed, or is equal for an equal form', async () => {
  const { me, send, open } = await openFormSchool(testApp);
  for (let n = 0; n < 2; n += 1) expect((await send({ ...(await open()), ...kari! })).status).toBe(303);
  const query = 'select fingerprint from catalog_posts where provider_id = $1';
  const { rows } = await testApp.database.pool.query<{ fingerprint: string }>(query, [me.id]);
  expect(new Set(rows.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  for (const { fingerprint } of rows) expect(fingerprint).toMatch(/^[\da-f]{64}$/);
});
