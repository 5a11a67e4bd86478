import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyBytes, anyContentType, anyQuery, anyText } from '../../support/any-request.ts';
import {
  dialects,
  fieldNames,
  hostileValue,
  sendWrite,
  sendRawWrite,
  writeEndpoints,
  type Fields,
} from '../../support/request-bodies.ts';
import { createKey } from '../../../src/domains/school/auth/key-service.ts';
import { getEndpoints } from '../../support/isolation.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp, type TestResponse } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const numRuns = runs(0.25);
const reader = await createProvider();
for (let created = 0; created < 2; created += 1) await reader.course({ tags: [{ title: 'One' }] });
const course = await reader.course({ tags: [{ title: 'One' }] });
const writer = await createProvider();

/** Asserts for any request: no 5xx, JSON, and an error in its interface's format without internals. */
function expectValidResponse(endpoint: string, response: TestResponse) {
  expect(response.status, response.text.slice(0, 300)).toBeLessThan(500);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  if (response.status < 400) return void response.json();

  const error = expect.any(String) as string;
  const names = expect.any(Array) as string[];
  if (endpoint === 'POST /v2/admin-users' && response.status === 400) {
    expect(response.json()).toEqual({ errors: { missing_fields: names, not_valid: names } });
  } else if (/ \/v2\/(booking(?!-)|batch\/booking|campaigns\/validate|vouchers\/validate)/.test(endpoint)) {
    expect(response.json()).toEqual({ successful: false, errors: expect.any(Array) as unknown[], error });
  } else if (response.status === 410) {
    expect(response.json()).toEqual({ error, code: 'read_everything_again' });
  } else expect(response.json()).toEqual(endpoint.includes(' /v2/') ? { error } : { status: 'failure', error });
  expect(response.text).not.toMatch(/select |drizzle|at \/|\.[jt]s:\d|node_modules|postgres/i);
  expect(response.text.length).toBeLessThan(1_000);
}

const endpoints = getEndpoints(testApp);
const named = /\{\w+\}/g;
const queryNames = ({ operation }: (typeof endpoints)[number]) =>
  (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name.replace('[]', ''));
const everyName = [...new Set(endpoints.flatMap(queryNames))];
const publishable = (await createKey(await reader.ctx(), { profile: 'publishable' })).apiKey;
test.each(endpoints)(
  '$name never fails on any query',
  async (endpoint) => {
    const { name, method, path } = endpoint;
    const known = queryNames(endpoint);
    // Parameters of other operations too, at half the weight.
    const query = fc.oneof({ weight: 2, arbitrary: anyQuery(known) }, { weight: 1, arbitrary: anyQuery(everyName) });
    const url = path.replace(/(?<=^\/v2\/courses\/)\{\w+\}/, String(course)).replaceAll(named, '1');
    const [sender, body] = method === 'GET' ? [reader, undefined] : [writer, {}];
    const request = async (text: string, apiKey: string) =>
      expectValidResponse(name, await sender.request(method)(`${url}?${text}`, body, { 'x-api-key': apiKey }));
    const keys = fc.constantFrom(sender.apiKey, sender.apiKey, publishable);
    await fc.assert(fc.asyncProperty(query, keys, request), { numRuns: known.length > 0 ? numRuns : runs(0.1) });
  },
  60_000,
);

const noIds = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x1',
  '%ff',
  '%00',
  '%',
  '2147483648',
  '9223372036854775808',
  '1e400',
  '__proto__',
];
test.each(endpoints.filter(({ path }) => /\{\w*id\}/.test(path)))(
  '$name returns 404 for malformed ids',
  async ({ name, method, path }) => {
    const ids = fc.oneof(
      fc.constantFrom(...noIds),
      anyText.map((text) => text.slice(0, 4_000)).filter((text) => !/^\d*$|^\.{1,2}$/.test(text)),
    );
    const request = async (id: string) => {
      const response = await writer.request(method)(path.replaceAll(named, id), method === 'GET' ? undefined : {});
      expectValidResponse(name, response);
      // A foreign id is only rejected when the body is validated.
      const refused = id === '2147483648' ? [404, 400] : [/%(?![\da-f]{2})|%ff/i.test(id) ? 400 : 404];
      expect(refused, id).toContain(response.status);
    };
    await fc.assert(fc.asyncProperty(ids, request), { numRuns });
  },
  60_000,
);

test('every write endpoint is tested', () => {
  const named = ({ method, path }: { method: string; path: string }) =>
    `${method} ${path.replaceAll(/\{\w+\}/g, ':id')}`;
  const all = endpoints.filter(({ operation }) => operation.requestBody !== undefined).map(named);
  // Bookings and actions on items have tests of their own, and a sign-on writes nothing readable.
  const others = ['POST /v2/booking', 'POST /v2/batch/booking', 'POST /v2/check-user-credentials'];
  const described = all.filter(
    (name) => !/\/(merge|erase|credit|payments|export|move|attendance|cancel|interests)$/.test(name),
  );
  expect([...writeEndpoints.map(({ name }) => name), ...others].sort()).toEqual(described.sort());
});

const jsonValue = fc.oneof(
  { weight: 3, arbitrary: hostileValue },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 7 }) },
);
test.each(writeEndpoints)(
  '$name never fails on any field in any body format',
  async (endpoint) => {
    const field = fc.tuple(
      fc.constantFrom(...fieldNames(endpoint), '__proto__', 'constructor', 'a[__proto__][x]', '', '[]', 'x'),
      jsonValue,
    );
    const fields = fc
      .tuple(
        fc.array(field, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(undefined, 'minimal' as const, 'full' as const),
      )
      .map(([sent, base]) => ({
        ...(base === undefined ? {} : endpoint[base]),
        title: `Any ${Math.random()}`,
        ...Object.fromEntries(sent),
      }));
    const send = async (sent: Fields, dialect: (typeof dialects)[number]) =>
      expectValidResponse(endpoint.name, await sendWrite(writer, endpoint, dialect, sent));
    await fc.assert(fc.asyncProperty(fields, fc.constantFrom(...dialects), send), { numRuns });
  },
  60_000,
);

test.each(writeEndpoints)(
  '$name never fails on any bytes of any content type',
  async (endpoint) => {
    const send = async (body: Buffer, contentType: string) =>
      expectValidResponse(endpoint.name, await sendRawWrite(writer, endpoint, contentType, body));
    await fc.assert(fc.asyncProperty(anyBytes, anyContentType, send), { numRuns });
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
  'prefer',
  'idempotency-key',
];
const headerText = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.constantFrom(
    '*',
    'no;q=2',
    'nb,nn;q=0',
    'en;q=x',
    ',,,',
    'W/"',
    'x'.repeat(7_000),
    'gzip',
    '',
    'identity',
    'handling=strict',
  ),
);
test('no header causes a 5xx', async () => {
  const headers = fc.dictionary(fc.constantFrom(...headerNames), headerText, { maxKeys: 3 });
  const url = fc.constantFrom('/v2/courses', '/v2/durations', '/schools', '/courses');
  const request = async (sent: Record<string, string>, query: string) => {
    const response = await reader.get(query, { ...sent });
    if (response.status === 304) return;
    if (response.status !== 401) expectValidResponse(`GET ${query}`, response);
    expect(response.headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/);
  };
  await fc.assert(fc.asyncProperty(headers, url, request), { numRuns });
});
