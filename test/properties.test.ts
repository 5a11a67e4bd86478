import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  contentTypes,
  dialects,
  encoded,
  furtherWrites,
  poison,
  typed,
  writes,
  type Fields,
} from './support/generate.ts';
import { sharedWorld, type Answer } from './support/world.ts';

const { newProvider } = await sharedWorld();
const numRuns = 400;
const reader = await newProvider();
for (let made = 0; made < 2; made += 1) await reader.course({ tags: [{ title: 'One' }] });
const oneCourse = `/v2/courses/${await reader.course({ tags: [{ title: 'One' }] })}`;
await reader.post('/v2/customers', { title: 'One', type: 2 });
const writer = await newProvider();
const further = furtherWrites.map(async (way) => ({ ...way, url: await way.url(writer) }));
const allWrites = [...writes, ...(await Promise.all(further))];

/** Whatever was asked: no fault of ours, JSON, and an error in its interface's shape that tells nothing of the inside. */
function expectDecent(url: string, answer: Answer) {
  expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(500);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  if (answer.status < 400) return void answer.json();

  const expected = { error: expect.any(String) as string };
  expect(answer.json()).toEqual(url.startsWith('/v2') ? expected : { status: 'failure', ...expected });
  expect(answer.text).not.toMatch(/select |drizzle|at \/|\.[jt]s:\d|node_modules|postgres/i);
  expect(answer.text.length).toBeLessThan(1_000);
}

const parameters = [
  ...[
    'limit',
    'page',
    'since_id',
    'customer_id',
    'created_at_min',
    'created_at_max',
    'updated_at_min',
    'updated_at_max',
  ],
  ...['description_language', 'tag_ids', 'tag_match', 'include_partners', 'partner_id', 'paginate', 'include'],
  ...['include_deleted', '__proto__', 'constructor', 'toString', 'x'],
];
const goodValues = fc.constantFrom(
  '1',
  '2',
  '75',
  'true',
  'no',
  '2026-01-01',
  '2026-07-01T09:00:00.5+02:00',
  'en',
  'all',
  'products',
);
const rawValues = fc.constantFrom(
  '%ff',
  '%',
  '%00',
  '%ed%a0%80',
  '+',
  '&',
  '=',
  '%26',
  '%C3%28',
  '[]',
  '%5B%5D',
  '1;2',
  '#',
);
const anyText = fc.oneof(
  poison.map((value) => encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed())),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const parameter = fc
  .tuple(
    fc.constantFrom(...parameters),
    fc.constantFrom('', '', '', '', '[]', '[0]', '[x]', '[__proto__]', '%5B%5D', '%5b1%5d', '[', '[]['),
    fc.oneof(goodValues, rawValues, anyText),
  )
  .map(([name, brackets, value]) => `${name}${brackets}=${value.slice(0, 4_000)}`);
const query = fc.array(parameter, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('&'));

test.each(['/v2/courses', oneCourse, '/v2/customers', '/v2/schools', '/v2/durations', '/v2/course-tags', '/schools'])(
  'GET %s bears any query',
  async (url) => {
    await fc.assert(
      fc.asyncProperty(query, async (text) => expectDecent(url, await reader.get(`${url}?${text}`))),
      { numRuns },
    );
  },
  60_000,
);

const jsonValue = fc.oneof({ weight: 3, arbitrary: poison }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 7 }) });
test.each(allWrites)(
  '$name bears any field in any dialect',
  async ({ method, url, minimal, full }) => {
    const field = fc.tuple(
      fc.constantFrom(...Object.keys(full), '__proto__', 'constructor', 'a[__proto__][x]', '', '[]', 'x'),
      jsonValue,
    );
    const fields = fc
      .tuple(fc.array(field, { minLength: 1, maxLength: 3 }), fc.constantFrom({}, minimal, full))
      .map(([sent, base]) => ({ ...base, title: `Any ${Math.random()}`, ...Object.fromEntries(sent) }));
    const send = async (sent: Fields, dialect: (typeof dialects)[number]) =>
      expectDecent(url, await writer.request(method)(url, encoded(dialect, sent), typed(dialect)));
    await fc.assert(fc.asyncProperty(fields, fc.constantFrom(...dialects), send), { numRuns });
  },
  60_000,
);

const fragments = fc.constantFrom(
  ...[
    'title=',
    'A',
    '&',
    '=',
    '[',
    ']',
    '%',
    '%ff',
    '%5B',
    '__proto__',
    'tags',
    '{',
    '}',
    '"title"',
    ':',
    ',',
    '"A"',
    'null',
  ],
  ...[
    '--edge',
    '--edge--',
    '\r\n',
    '\r\n\r\n',
    'content-disposition: form-data; name="title"',
    '; filename="x"',
    '\0',
    '\\u0000',
  ],
);
const bytes = fc.oneof(
  fc.array(fragments, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ minLength: 1, maxLength: 60 }).map((part) => Buffer.from(part)),
);
const type = fc.constantFrom(
  ...Object.values(contentTypes),
  'multipart/form-data',
  'application/json; charset=latin1',
  'x',
  '/',
);
test.each(allWrites)(
  '$name bears any bytes of any type',
  async ({ method, url }) => {
    const send = async (body: Buffer, contentType: string) =>
      expectDecent(url, await writer.request(method)(url, body, { 'content-type': contentType }));
    await fc.assert(fc.asyncProperty(bytes, type, send), { numRuns });
  },
  60_000,
);

const headerNames = [
  'x-api-key',
  'x-request-id',
  'accept-language',
  'if-none-match',
  'content-type',
  'content-encoding',
  'accept',
];
const headerText = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.constantFrom('*', 'no;q=2', 'nb,nn;q=0', 'en;q=x', ',,,', 'W/"', 'x'.repeat(7_000), 'gzip', '', 'identity'),
);
test('any header is borne', async () => {
  const headers = fc.dictionary(fc.constantFrom(...headerNames), headerText, { maxKeys: 3 });
  const url = fc.constantFrom('/v2/courses', '/v2/durations', '/schools', '/courses');
  const ask = async (sent: Record<string, string>, asked: string) => {
    const answer = await reader.get(asked, { ...sent });
    if (answer.status === 304) return;
    if (answer.status !== 401) expectDecent(asked, answer);
    expect(answer.headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/);
  };
  await fc.assert(fc.asyncProperty(headers, url, ask), { numRuns });
}, 60_000);
