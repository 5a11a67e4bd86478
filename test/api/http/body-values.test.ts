import { expect, test } from 'vitest';
import { toSingleLine } from '../../../src/core/text.ts';
import {
  contentTypes,
  dialects,
  fieldErrors,
  encodeMultipart,
  sendWrite,
  sendRawWrite,
  writeEndpoints,
  type Fields,
} from '../../support/request-bodies.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const me = await createProvider();
const [postCourse, putSchool, , postLegacyCourse] = writeEndpoints as [Write, Write, Write, Write, ...Write[]];
type Write = (typeof writeEndpoints)[number];
const each = <T>(values: readonly T[]) =>
  writeEndpoints.flatMap((endpoint) => values.map((value) => [endpoint.name, value, endpoint] as const));

let created = 0;
const newTitle = () => `Text ${(created += 1)}`;
const reported = (response: { text: string }) => (JSON.parse(response.text) as { error: string }).error;

async function stored(endpoint: Write, dialect: (typeof dialects)[number], fields: Fields) {
  const response = await sendWrite(me, endpoint, dialect, { ...endpoint.minimal, title: newTitle(), ...fields });
  expect(response.status, response.text).toBe(endpoint.created);
  return endpoint.read(me, response);
}

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

test.each<[string, string, string | Buffer]>([
  ['NUL in a form', contentTypes.form, 'title=a%00b'],
  ['NUL in JSON', contentTypes.json, '{"title":"a\\u0000b"}'],
  ['NUL in multipart', contentTypes.multipart, encodeMultipart([['title', 'a\0b']])],
  ['a lone high surrogate', contentTypes.json, '{"title":"\\ud800"}'],
  ['a lone low surrogate', contentTypes.json, '{"title":"a\\udc00b"}'],
  ['surrogates the wrong way round', contentTypes.json, '{"title":"\\udc00\\ud800"}'],
  ['an encoded surrogate', contentTypes.form, 'title=%ed%a0%80'],
  ['U+FFFD in a form', contentTypes.form, 'title=%EF%BF%BD'],
  ['U+FFFD in JSON', contentTypes.json, '{"title":"a\\ufffd"}'],
  ['bytes that are no UTF-8', contentTypes.form, 'title=%ff%fe'],
  ['Latin-1 in a form', contentTypes.form, 'title=K%E6re'],
  ['an overlong encoding', contentTypes.form, 'title=%c0%af'],
  ['half an escape', contentTypes.form, 'title=100%'],
  ['raw Latin-1 in a form', contentTypes.form, bytes('title=K', [0xe6], 're')],
  ['raw Latin-1 in JSON', contentTypes.json, bytes('{"title":"K', [0xe6], 're"}')],
  ['raw Latin-1 in multipart', contentTypes.multipart, Buffer.from(encodeMultipart([['title', 'Kære']]), 'latin1')],
])('%s is not valid', async (_name, type, body) => {
  expect(await sendRawWrite(me, postCourse, type, body)).toMatchObject({
    status: 400,
    text: '{"error":"Field(s) not valid: title"}',
  });
});

test.each([
  'reference',
  'price_comment',
  'text_lead',
  'visit_city',
  'email_booking',
  'custom_properties',
  'tags',
  'level',
])('NUL in %s is not valid', async (name) => {
  const values: Fields = { custom_properties: { a: 'x\0' }, tags: [{ title: 'x\0' }], email_booking: 'a\0@b.example' };
  const response = await me.post('/v2/courses', { title: newTitle(), [name]: values[name] ?? 'x\0' });
  expect(response).toMatchObject({
    status: 400,
    text: `{"error":"Field(s) not valid: ${name === 'tags' ? 'tags[0].title' : name}"}`,
  });
});

test('custom property names have the same character rules as values', async () => {
  for (const name of ['a\0', '\ufffd', '', 'x'.repeat(41)]) {
    const response = await me.post('/v2/courses', { title: newTitle(), custom_properties: { [name]: 'x' } });
    expect(response).toMatchObject({ status: 400, text: '{"error":"Field(s) not valid: custom_properties"}' });
  }
});

const limits: [way: Write, name: string, limit: number, read: (item: Fields) => unknown][] = [
  [postCourse, 'title', 255, (item) => item['title']],
  [postCourse, 'reference', 255, (item) => item['reference']],
  [postCourse, 'visit_address', 255, (item) => item['visit_address']],
  [postCourse, 'text_lead', 65_000, (item) => (item['descriptions'] as Fields)['lead']],
  [postCourse, 'text_hotel_info', 65_000, (item) => (item['descriptions'] as Fields)['hotelInfo']],
  [postCourse, 'price_comment', 5_000, (item) => (item['price'] as Fields)['comment']],
  [putSchool, 'title', 255, (item) => item['title']],
  [putSchool, 'reference', 255, (item) => item['reference']],
  [putSchool, 'text_tagline', 65_000, (item) => item['text_tagline']],
  [putSchool, 'text_description', 65_000, (item) => item['text_description']],
];

const named = limits.map(([endpoint, ...rest]) => [endpoint.name, ...rest, endpoint] as const);
test.each(named)('%s limits %s to %i characters', async (_way, name, limit, read, endpoint) => {
  for (const character of ['x', 'ø', '🚑']) {
    const longest = character.repeat(limit);
    expect(read(await stored(endpoint, 'json', { [name]: longest })) === longest, character).toBe(true);
    const response = await sendWrite(me, endpoint, 'json', { ...endpoint.minimal, [name]: `${longest}${character}` });
    expect(reported(response)).toBe(`Field(s) not valid: ${name}`);
  }
});

test.each([
  ['email_booking', (length: number) => `${'a'.repeat(length - 10)}@b.example`, 254],
  ['external_booking_url', (length: number) => `https://b.example/${'a'.repeat(length - 18)}`, 2_000],
] as const)('%s accepts the longest valid e-mail address', async (name, created, limit) => {
  await stored(postCourse, 'json', { [name]: created(limit) });
  const response = await sendWrite(me, postCourse, 'json', { title: newTitle(), [name]: created(limit + 1) });
  expect(reported(response)).toBe(`Field(s) not valid: ${name}`);
});

test.each([
  ['email_booking', ['nobody', '@', 'a b@c.example', 'a@', '@b.example']],
  ['external_booking_url', ['school.example', 'javascript:alert(1)', 'ftp://b.example', 'https://', 'http://a b']],
  ['price_currency', ['XXXX', 'kr', '€', 'ßp']],
  ['teaching_language', ['NO', 'nb', 'xx', '__proto__', 'constructor']],
  ['level', ['4', '0', '-1', '22']],
  ['form_of_teaching', ['3', '0']],
  ['time_of_day', ['0', '4']],
] as const)('%s rejects %j', async (name, values) => {
  for (const value of values) {
    const response = await sendWrite(me, postCourse, 'form', { title: newTitle(), [name]: value });
    expect(response.text).toBe(`{"error":"Field(s) not valid: ${name}"}`);
  }
});

/** `title` by the field's name in this endpoint, if required. */
const eachTitled = <T>(values: readonly T[]) =>
  each(values).flatMap(([name, value, endpoint]) =>
    endpoint.title === null ? [] : [[name, value, endpoint, endpoint.title] as const],
  );
test.each(eachTitled(dialects))('%s trims a title: %s', async (_name, dialect, endpoint, title) => {
  const text = newTitle();
  const read = await stored(endpoint, dialect, { [title]: ` \t\n\u00a0${text}\u3000 \r\n ` });
  expect(read).toMatchObject({ [title]: text });
});

test.each(eachTitled([' ', '   ', '\t\r\n', '\u00a0\u3000']))(
  '%s: a blank title counts as missing: %j',
  async (_name, blanks, endpoint, name) => {
    for (const dialect of dialects) {
      const response = await sendWrite(me, endpoint, dialect, { ...endpoint.minimal, [name]: blanks });
      expect([response.status, fieldErrors(response)]).toEqual([400, { missing: [name], notValid: [] }]);
    }
  },
);

const html = [
  '<p onclick="x()">Hei &amp; hå</p>\r\n<script>alert(\'1\')</script>',
  '  <b> blanks around </b>  ',
  '&lt;p&gt; &#39; " \' ` \\ \\n %41 + ${1} $1 {{x}}',
  'e\u0301 é \u200d\u202e 👩‍👩‍👧‍👦 \u2028 \ufeff',
  '\n\n\ttabs\tand lines\n',
];
test.each(dialects)('HTML is returned as it was sent: %s', async (dialect) => {
  for (const text of html) {
    const course = await stored(postCourse, dialect, { text_description: text, price_comment: text, reference: text });
    expect(course).toMatchObject({ descriptions: { description: text }, price: { comment: text } });
    expect(course).toMatchObject({ reference: toSingleLine(text) });
    expect(await stored(putSchool, dialect, { text_description: text })).toMatchObject({ text_description: text });
  }
});

const withIntegers = [postCourse, postLegacyCourse].map((endpoint) => endpoint.name);
const eachWithIntegers = <T>(values: readonly T[]) => each(values).filter(([name]) => withIntegers.includes(name));
test.each(
  eachWithIntegers(['1e3', '0x10', ' 5 ', '5.0', '+5', '9007199254740992', '٥', '5,', '--5', '1_000', 'Infinity']),
)('%s: %j is not an integer', async (_name, value, endpoint) => {
  const me = await createProvider();
  for (const dialect of dialects) {
    const response = await sendWrite(me, endpoint, dialect, { ...endpoint.minimal, price_value: value });
    expect(response.status, dialect).toBe(400);
    expect(response.json<{ error: string }>().error).toBe('Field(s) not valid: price_value');
  }
});

test.each([1.5, -1, true, [5], { value: 5 }, 2 ** 53])('%j is not an integer in JSON', async (price_value) => {
  const response = await me.post('/v2/courses', { title: 'A', price_value });
  expect(response).toMatchObject({ status: 400, text: '{"error":"Field(s) not valid: price_value"}' });
});

test.each(dialects)('a translation without any text is ignored: %s', async (dialect) => {
  const fields = { text_lead: 'Own', translations: { en: { lead: '' }, da: { lead: 'Dansk' } } };
  const { id } = await stored(postCourse, dialect, fields);
  const response = await me.get(`/v2/courses?limit=1&since_id=${Number(id) - 1}&description_language=en`);
  expect(response.json<Fields[]>()[0]).toMatchObject({ description_languages: ['da'], descriptions: { lead: 'Own' } });
});
