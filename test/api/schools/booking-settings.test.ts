import { expect, test } from 'vitest';
import { mailKinds } from '../../../src/core/reference/mail-kinds.ts';
import { contentTypeHeader, dialects, encodeBody, type Dialect, type Fields } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

const url = '/v2/booking-settings';
const noTexts = { greeting: null, footer: null, reply_to: null };
const defaults = {
  ...{ self_cancellation: false, late_cancellation: 'no', language: null },
  ...{ mails: mailKinds, texts: { en: noTexts, no: noTexts } },
};
const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;

const read = async (me: Provider) => (await me.get(url)).json<Fields>();
const put = (me: Provider, fields: Fields, dialect: Dialect = 'json') =>
  me.put(url, encodeBody(dialect, fields), contentTypeHeader(dialect));

test('a school without settings has the defaults, and storing these stores nothing', async () => {
  const me = await createProvider();
  expect(await read(me)).toEqual({ ...defaults, updated_at: null });
  expect((await put(me, defaults)).json()).toEqual({ ...defaults, updated_at: null });
  expect(await read(me)).toEqual({ ...defaults, updated_at: null });
});

test.each(dialects)('an update changes the fields sent alone, also within mails and texts: %s', async (dialect) => {
  const me = await createProvider();
  const first = await put(me, { self_cancellation: true, mails: { reminder: true, offer: false } }, dialect);
  const expected = {
    ...{ ...defaults, self_cancellation: true, updated_at: dateTime },
    mails: { ...mailKinds, reminder: true, offer: false },
  };
  expect([first.status, first.json()]).toEqual([200, expected]);
  expect(first.headers['x-ignored-parameters']).toBeUndefined();
  expect(await read(me)).toEqual(expected);

  const texts = { no: { greeting: 'Kjære\r\ngjest', footer: 'Ta med:\n- støvler', reply_to: 'svar@skole.example' } };
  await put(me, { late_cancellation: 'fee', language: 'no', mails: { receipt: true }, texts }, dialect);
  await put(me, { texts: { no: { footer: 'Velkommen' }, en: { footer: 'Welcome' } } }, dialect);
  expect(await read(me)).toEqual({
    ...{ ...expected, late_cancellation: 'fee', language: 'no', mails: { ...expected.mails, receipt: true } },
    texts: {
      no: { greeting: 'Kjære gjest', footer: 'Velkommen', reply_to: 'svar@skole.example' },
      en: { ...noTexts, footer: 'Welcome' },
    },
  });
});

const changed = {
  ...{ self_cancellation: true, late_cancellation: 'fee', language: 'no', mails: { reminder: true, offer: false } },
  texts: { en: { greeting: 'Hi', footer: 'Bye' }, no: { greeting: 'Hei', footer: 'Ha det' } },
};

test.each(dialects)('null is the default of a switch, and no text: %s', async (dialect) => {
  const me = await createProvider();
  await put(me, changed);
  await put(me, { language: null, mails: { offer: null }, texts: { en: { greeting: null }, no: null } }, dialect);
  expect(await read(me)).toMatchObject({
    ...{ self_cancellation: true, language: null, mails: { reminder: true, offer: true } },
    texts: { en: { greeting: null, footer: 'Bye' }, no: noTexts },
  });
  await put(me, { late_cancellation: null, self_cancellation: null, mails: null, texts: null }, dialect);
  expect(await read(me)).toEqual({ ...defaults, self_cancellation: true, updated_at: dateTime });
});

test('a form has mails and texts as JSON too', async () => {
  const me = await createProvider();
  await put(me, { mails: '{"reminder":true}', texts: '{"en":{"footer":"Bye"}}' }, 'form');
  expect(await read(me)).toMatchObject({ mails: { reminder: true }, texts: { en: { footer: 'Bye' } } });
});

test('a text of blanks is none', async () => {
  const me = await createProvider();
  await put(me, { language: 'en', texts: { en: { greeting: ' ', footer: ' \n ', reply_to: ' ' } } });
  expect((await read(me))['texts']).toEqual(defaults.texts);
});

test('an equal update changes nothing', async () => {
  const me = await createProvider();
  await put(me, changed);
  const readStored = async () =>
    (await database.pool.query('select * from booking_settings where provider_id = $1', [me.id])).rows;
  const before = await readStored();
  await put(me, changed);
  expect(await readStored()).toEqual(before);
  await put(me, { mails: { receipt: false } });
  expect(await readStored()).toEqual(before);
});

test.each([
  [{ self_cancellation: 'maybe' }, 'self_cancellation'],
  [{ late_cancellation: 'free' }, 'late_cancellation'],
  [{ language: 'de' }, 'language'],
  [{ mails: { reminder: 'maybe' } }, 'mails'],
  [{ mails: 'all' }, 'mails'],
  [{ mails: [true] }, 'mails'],
  [{ texts: { en: { greeting: 'x'.repeat(256) } } }, 'texts'],
  [{ texts: { en: { footer: 'x'.repeat(2_001) } } }, 'texts'],
  [{ texts: { no: { reply_to: 'nobody' } } }, 'texts'],
  [{ texts: { no: 'Hei' } }, 'texts'],
])('%j is refused as %s', async (fields, name) => {
  const me = await createProvider();
  const response = await put(me, { self_cancellation: true, ...fields });
  expect([response.status, response.json<Fields>()['error']]).toEqual([400, `Field(s) not valid: ${name}`]);
  expect(await read(me)).toEqual({ ...defaults, updated_at: null });
});

test('texts at their limits are stored', async () => {
  const me = await createProvider();
  const texts = { en: { greeting: 'å'.repeat(255), footer: '🚑'.repeat(2_000), reply_to: null }, no: noTexts };
  expect((await put(me, { texts })).json()).toMatchObject({ texts });
});

test('unknown kinds, languages and fields are named, and change nothing', async () => {
  const me = await createProvider();
  const response = await put(me, { mails: { birthday: true }, texts: { de: { footer: 'x' } }, color: 'red' });
  expect(response.status).toBe(200);
  expect(response.headers['x-ignored-parameters']).toBe('mails.birthday, texts.de, color');
  expect(await read(me)).toEqual({ ...defaults, updated_at: null });
});

test('each school has settings of its own', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  await put(me, changed);
  await put(other, { language: 'en' });
  expect(await read(other)).toEqual({ ...defaults, language: 'en', updated_at: dateTime });
  expect(await read(me)).toMatchObject({ language: 'no', mails: { reminder: true } });
});
