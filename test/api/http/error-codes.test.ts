import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { InjectOptions } from 'fastify';
import { pino } from 'pino';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { errorCodes, kindCodes } from '../../../src/core/error-codes.ts';
import { bookingBody, bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { limits, openTestApp, openTestDatabase, send, sharedPort, sharedTestApp } from '../../support/test-app.ts';

const shared = await sharedTestApp();
const { app, createProvider } = shared;
const me = await createProvider();
const key = { 'x-api-key': me.apiKey };
const reader = await withProfile(shared, me, 'read');
const json = 'application/json; charset=utf-8';
const problem = 'application/problem+json';

/** A school has one request, and a route fails. */
const limited = await openTestApp(openTestDatabase(inject('shared')), {
  limits: { ...limits, rate: { perSecond: 0.001, burst: 1 } },
  parts: [{ routes: (routes) => void routes.get('/v2/failing', () => Promise.reject(new Error('secret'))) }],
});
afterAll(limited.close);
const slow = await limited.createProvider();
await slow.get('/v2/schools');
const unreachable = await openTestApp(
  openTestDatabase('postgres', { connection: { host: '127.0.0.1', port: 1, user: 'someone' }, acquireMs: 500 }),
);
afterAll(unreachable.close);

type Case = InjectOptions & { status: number; code: string; text: string; from?: typeof app };
const creation = { method: 'POST', url: '/v2/courses', headers: key } as const;
const manyHeaders = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, '1']));
const nothing = 'There is nothing at this path';
const invalidCursor = 'The cursor is not valid any more: request a new one, then read everything again';
const wrongType = 'The Content-Type is not supported; send a form, multipart or JSON';
const notReached = 'The service is busy or its database out of reach (request req-1)';
const cases: Case[] = [
  { status: 400, code: 'field_invalid', text: 'Missing field(s): title', ...creation },
  {
    ...{ status: 400, code: 'field_invalid', text: 'The body is not valid JSON', ...creation },
    ...{ headers: { ...key, ...contentTypeHeader('json') }, payload: '{' },
  },
  { status: 400, code: 'field_invalid', text: 'The request could not be read', url: '/v2/%ff', headers: key },
  { status: 401, code: 'unauthorized', text: 'Wrong API Key', url: '/v2/courses' },
  {
    ...{ status: 403, code: 'forbidden', text: 'A key with the profile read may not do this' },
    ...{ ...creation, headers: { 'x-api-key': reader.apiKey } },
  },
  { status: 404, code: 'resource_not_found', text: 'Course not found', url: '/v2/courses/999999999', headers: key },
  { status: 404, code: 'resource_not_found', text: nothing, url: '/v2/nothing', headers: key },
  { status: 404, code: 'resource_not_found', text: nothing, url: '/v2/courses/x', headers: key },
  { status: 404, code: 'resource_not_found', text: nothing, url: '/v2?a=1', headers: key },
  {
    ...{ status: 405, code: 'method_not_allowed', text: 'This path takes GET, HEAD, POST' },
    ...{ ...creation, method: 'PATCH' },
  },
  { status: 410, code: 'read_everything_again', text: invalidCursor, url: '/v2/changes?since=unknown', headers: key },
  {
    ...{ status: 413, code: 'body_too_large', text: 'The body is too large', ...creation },
    payload: { title: 'x'.repeat(limits.bodyBytes) },
  },
  {
    ...{ status: 415, code: 'content_type_not_supported', text: wrongType, ...creation },
    ...{ headers: { ...key, 'content-type': 'text/plain' }, payload: 'title' },
  },
  {
    ...{ status: 429, code: 'too_many_requests', text: 'Too many requests', from: limited.app },
    ...{ url: '/v2/courses', headers: { 'x-api-key': slow.apiKey } },
  },
  {
    ...{ status: 431, code: 'headers_too_large', text: 'There are more than 100 headers' },
    ...{ url: '/v2/courses', headers: { ...key, ...manyHeaders } },
  },
  {
    ...{ status: 500, code: 'internal_error', text: 'Something went wrong (request req-1)' },
    ...{ from: limited.app, url: '/v2/failing' },
  },
  {
    ...{ status: 503, code: 'service_unavailable', text: notReached },
    ...{ from: unreachable.app, url: '/v2/courses', headers: key },
  },
];

const request = ({ from = app, headers, ...options }: Case, accept?: string) =>
  send(from, { ...options, headers: { ...headers, 'x-request-id': 'req-1', ...(accept !== undefined && { accept }) } });

test.each(cases)('$status "$text" has the code $code in the header, and its body stays', async (one) => {
  const { status, headers, text } = await request(one);
  const body = { error: one.text, ...(status === 410 && { code: 'read_everything_again' }) };
  expect([status, text]).toEqual([one.status, JSON.stringify(body)]);
  expect(headers).toMatchObject({ 'x-error-code': one.code, 'content-type': json });
  expect(String(headers['vary'])).not.toMatch(/\bAccept(,|$)/);
});

test.each(cases)('$status "$text" is sent as problem details', async (one) => {
  const [plain, { status, headers, text }] = [await request(one), await request(one, problem)];
  expect(status).toBe(one.status);
  const { fields, ...rest } = JSON.parse(text) as { fields?: unknown };
  expect(rest).toEqual({ type: 'about:blank', title: one.text, status, code: one.code, instance: 'req-1' });
  expect(fields).toEqual(one.text.startsWith('Missing') ? [{ field: 'title', code: 'missing' }] : undefined);
  const vary = [plain.headers['vary'] ?? [], 'Accept'].flat().join(', ');
  expect(headers).toMatchObject({ 'x-error-code': one.code, 'content-type': problem, vary });
  expect(Object.keys(headers)).toEqual(expect.arrayContaining(Object.keys(plain.headers)));
});

const taken: [string, object, string][] = [
  ['/v2/courses', { title: 'Taken' }, 'title'],
  [
    '/v2/campaigns',
    { title: 'A', campaign_code: 'TAKEN', discount_type: 'Percent', discount_value: 5 },
    'campaign_code',
  ],
  ['/v2/vouchers', { code: 'TAKEN', amount: 5 }, 'code'],
];

test.each(taken)('POST %s names the field of a value that is taken', async (path, body, field) => {
  const me = await createProvider();
  await me.post(path, body);
  const refused = await me.post(path, body, { accept: problem });
  expect([refused.status, refused.json()]).toMatchObject([400, { fields: [{ field, code: 'invalid' }] }]);
});

test('problem details of an equal title or person have the id of the other item', async () => {
  const me = await createProvider();
  const idOf = async (path: string, body: object, member = 'id') =>
    (await me.post(path, body)).json<Record<string, number>>()[member]!;
  const conflictOf = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const refused = await me.request(method)(path, body, { accept: problem });
    const {
      code,
      conflicts_with: id,
      fields,
    } = refused.json<{ code: string; conflicts_with: number; fields: object }>();
    expect((await me.request(method)(path, body)).json()).toEqual({ error: refused.json<{ title: string }>().title });
    return [refused.status, code, id, fields];
  };
  const courseId = await me.course({ title: 'Taken' });
  const expected = [400, 'equal_title', courseId, [invalid('title')]];
  expect(await conflictOf('POST', '/v2/courses', { title: 'TAKEN' })).toEqual(expected);
  expect(await conflictOf('PUT', `/v2/courses/${await me.course()}`, { title: 'taken' })).toEqual(expected);
  const inactive = await me.course({ title: 'Taken', active: false });
  expect(await conflictOf('PUT', `/v2/courses/${inactive}`, { active: true })).toEqual(expected);

  const tag = await idOf('/v2/course-tags', { title: 'Taken' });
  const otherTag = await idOf('/v2/course-tags', { title: 'Other' });
  expect(await conflictOf('PUT', `/v2/course-tags/${otherTag}`, { title: 'taken' })).toEqual([
    ...[400, 'equal_title', tag, [invalid('title')]],
  ]);

  const names = { firstname: 'Kari', lastname: 'Nordmann' };
  const kari = await idOf('/v2/course-users', { ...names, email: 'kari@people.example', username: 'kari' });
  const other = await idOf('/v2/course-users', { ...names, email: 'other@people.example' });
  expect(await conflictOf('PUT', `/v2/course-users/${other}`, { email: 'KARI@people.example' })).toEqual([
    ...[400, 'equal_person', kari, [invalid('email')]],
  ]);
  expect(await conflictOf('PUT', `/v2/course-users/${other}`, { username: 'Kari' })).toEqual([
    ...[400, 'equal_username', kari, [invalid('username')]],
  ]);
});

test('every kind of error is among the cases', () => {
  expect(new Set(cases.map(({ code }) => code))).toEqual(new Set(Object.values(kindCodes)));
});

test('an error without a body has its code, and a success has none', async () => {
  const { status, headers, text } = await me.request('HEAD')('/v2/courses/999999999', undefined, { accept: problem });
  expect([status, headers['x-error-code'], text]).toEqual([404, 'resource_not_found', '']);
  const found = await me.get('/v2/schools', { accept: problem });
  expect([found.status, found.headers['content-type']]).toEqual([200, json]);
  expect(found.headers).not.toHaveProperty('x-error-code');
});

test.each([
  [problem, problem],
  ['APPLICATION/Problem+JSON', problem],
  [`${problem};q=0.1`, problem],
  [`text/html, ${problem};q=0.9, */*;q=0.8`, problem],
  [`application/json;q=0.5, ${problem}`, problem],
  [`${problem};q=0.51,application/json;q=0.5,*/*;q=0.1`, problem],
  [`${problem};q=0`, json],
  [`${problem}, application/json`, json],
  [`application/json, ${problem}`, json],
  [`${problem}, */*`, json],
  [`${problem};q=0.5, application/json;q=0.5`, json],
  [`${problem};q=0.5, */*;q=0.6`, json],
  ['application/json', json],
  ['*/*', json],
  ['text/html', json],
  ['', json],
  [undefined, json],
])('with Accept: %s an error is %s', async (accept, type) => {
  for (const url of ['/v2/courses/999999999', '/v2/booking/999999999/deregister', '/v2/%ff']) {
    const method = url.includes('booking') ? 'PUT' : 'GET';
    const { headers } = await send(app, { method, url, headers: { ...key, ...(accept !== undefined && { accept }) } });
    expect(headers['content-type'], url).toBe(type);
  }
});

const nested = {
  ...{ end_at: '2030-06-12', timezone: 'Europe/Nowhere' },
  gatherings: [
    { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 10:00' },
    { date: '2030-06-10', time_start: '09:00' },
    { gathering_end_at: '2030-06-10 10:00' },
  ],
};
const missing = (field: string) => ({ field, code: 'missing' });
const invalid = (field: string) => ({ field, code: 'invalid' });

test.each(dialects)('problem details name the fields of a %s by their paths', async (dialect) => {
  const sendTo = (url: string, body: object) =>
    me.post(url, encodeBody(dialect, body as Record<string, unknown>), {
      ...contentTypeHeader(dialect),
      accept: problem,
    });
  const date = await sendTo(`/v2/courses/${await me.course()}/coursedates`, nested);
  expect(date.json()).toMatchObject({
    title: 'Missing field(s): start_at,gatherings[1].time_end,gatherings[2].gathering_at. Field(s) not valid: timezone',
    fields: [...['start_at', 'gatherings[1].time_end', 'gatherings[2].gathering_at'].map(missing), invalid('timezone')],
  });
  const course = await sendTo('/v2/courses', {
    title: 'A',
    level: 99,
    tags: [{ title: 'A' }, { id: 'x', title: 'B' }],
  });
  expect(course.json()).toMatchObject({ status: 400, fields: ['level', 'tags[1].id'].map(invalid) });
});

test.each(dialects)(
  'a booking as %s has its first code in the header, and all in its problem details',
  async (dialect) => {
    const { dateId } = await createBookableDate(me);
    const body = bookingBody(dateId, {
      ...{ payment_method: 'card', currency: 'XYZW' },
      participants: [person(), { ...person({ email: 'no address', comment: 'a\0b' }), lastname: undefined }],
    });
    const headers = contentTypeHeader(dialect);
    const plain = await me.post('/v2/booking', encodeBody(dialect, body), headers);
    const { errors } = plain.json<{ errors: { code: string; message: string }[] }>();
    expect(errors.map(({ code }) => code)).toEqual([
      ...['payment_method_invalid', 'field_invalid', 'participant_name_invalid_empty'],
      ...['participant_email_invalid_empty', 'field_invalid'],
    ]);
    expect([plain.status, plain.headers['x-error-code']]).toEqual([400, 'payment_method_invalid']);
    const detailed = await me.post('/v2/booking', encodeBody(dialect, body), { ...headers, accept: problem });
    expect(detailed.json()).toEqual({
      ...{ type: 'about:blank', title: errors[0]!.message, status: 400, code: 'payment_method_invalid' },
      ...{ instance: detailed.headers['x-request-id'], errors: expect.any(Array) },
      fields: [
        ...[missing('participants[1].lastname'), invalid('payment_method'), invalid('currency')],
        ...[invalid('participants[1].email'), invalid('participants[1].comment')],
      ],
    });
    expect(detailed.json<{ errors: object[] }>().errors).toEqual([
      { ...errors[0], field: 'payment_method' },
      { ...errors[1], field: 'currency' },
      ...['lastname', 'email', 'comment'].map((name, n) => ({
        ...{ ...errors[n + 2], field: `participants[1].${name}`, participant: 1 },
      })),
    ]);
  },
);

test('a rule of a booking has its code, and what it is about', async () => {
  const { dateId } = await createBookableDate(me, { capacityMax: 1 });
  await bookOrFail(me, dateId);
  const { headers, text } = await me.post('/v2/booking', bookingBody(dateId), { accept: problem });
  expect(headers['x-error-code']).toBe('no_seats_available');
  const message = 'Participant 1: no seat is available';
  expect(JSON.parse(text)).toEqual({
    ...{ type: 'about:blank', title: message, status: 400, code: 'no_seats_available' },
    instance: headers['x-request-id'],
    fields: [invalid('participants[0]')],
    errors: [{ code: 'no_seats_available', message, field: 'participants[0]', participant: 0 }],
  });
});

test('the lists of fields of POST /v2/admin-users become problem details', async () => {
  const plain = await me.post('/v2/admin-users', { email: 'x' });
  expect(plain.json()).toEqual({ errors: { missing_fields: ['role_ids'], not_valid: ['email'] } });
  expect(plain.headers['x-error-code']).toBe('field_invalid');
  const detailed = await me.post('/v2/admin-users', { email: 'x' }, { accept: problem });
  expect(detailed.json()).toMatchObject({ code: 'field_invalid', fields: [missing('role_ids'), invalid('email')] });
});

test.each(['/schools', '/courses', '/schools/x', '/schools/%ff', '/nothing', '/v22', '/live/x'])(
  '%s is outside the main interface: no code, no problem details',
  async (url) => {
    for (const headers of [key, {}]) {
      const [plain, { headers: asked, ...rest }] = [
        await send(app, { method: 'POST', url, headers }),
        await send(app, { method: 'POST', url, headers: { ...headers, accept: problem } }),
      ];
      expect(plain.status).toBeGreaterThanOrEqual(400);
      expect([rest.status, rest.text]).toEqual([plain.status, plain.text]);
      expect(Object.keys(asked)).toEqual(Object.keys(plain.headers));
      expect(asked).toMatchObject({
        'content-type': json,
        ...(plain.headers['vary'] && { vary: plain.headers['vary'] }),
      });
      expect(asked).not.toHaveProperty('x-error-code');
    }
  },
);

/** Response to a raw request. */
const overWire = async (text: string) => {
  const port = await sharedPort();
  return new Promise<string>((resolve, reject) => {
    let response = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('data', (part: string) => (response += part));
    socket.on('close', () => resolve(response)).on('error', reject);
  });
};

// A proxy refuses such a request itself.
test.skipIf(process.env['TEST_BASE_URL'])('a request that cannot be parsed gets the code, and JSON', async () => {
  const long = (path: string) => overWire(`GET ${path}?a=${'x'.repeat(60_000)} HTTP/1.1\r\naccept: ${problem}\r\n\r\n`);
  const response = await long('/v2/courses');
  expect(response).toMatch(/^HTTP\/1\.1 431 .*\r\ncontent-type: application\/json; charset=utf-8\r\n/);
  expect(response).toMatch(/\r\nx-error-code: headers_too_large\r\n[^]*\r\n\r\n\{"error":"[\w ]+"\}$/);
  expect(await overWire('GET /v2/x HTTP/1.1\r\na: a\rb\r\n\r\n')).toMatch(
    / 400 [^]*\r\nx-error-code: field_invalid\r\n/,
  );
  expect(await overWire('nonsense\r\n\r\n')).toMatch(/ 400 [^]*\r\nx-error-code: field_invalid\r\n/);
  expect(await long('/schools')).not.toContain('x-error-code');
});

test('web pages with a publishable key can read the code of an error', async () => {
  const origin = 'https://www.codes.example';
  const publishable = await withProfile(shared, me, 'publishable', { origins: [origin] });
  const exposed = async (url: string) =>
    String((await publishable.get(url, { origin })).headers['access-control-expose-headers']).split(', ');
  expect(await exposed('/v2/courses/999999999')).toEqual([...(await exposed('/v2/courses')), 'X-Error-Code']);
  const { headers } = await publishable.get('/v2/courses/999999999', { origin, accept: problem });
  expect(headers['vary']).toBe('Accept-Encoding, Accept-Language, X-API-Key, Origin, Accept');
});

test('large problem details are compressed', async () => {
  const { dateId } = await createBookableDate(me);
  const participants = Array.from({ length: 100 }, () => ({}));
  const headers = { accept: problem, 'accept-encoding': 'gzip' };
  const response = await me.post('/v2/booking', bookingBody(dateId, { participants }), headers);
  expect(response.headers).toMatchObject({ 'content-type': problem, 'content-encoding': 'gzip' });
});

test('the instance is the request id of the log', async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const logged = await openTestApp(openTestDatabase(inject('shared')), { logger, requestLog: 'errors' });
  onTestFinished(logged.close);
  for (const url of ['/v2/courses/999999999', '/v2/nothing']) {
    const { headers, text } = await send(logged.app, { url, headers: { ...key, accept: problem } });
    const { instance } = JSON.parse(text) as { instance: string };
    expect(instance, url).toBe(headers['x-request-id']);
    expect(
      lines.filter((line) => line.includes(`"reqId":"${instance}"`)),
      url,
    ).toHaveLength(1);
  }
});

type Document = { components: { schemas: Record<string, { enum?: string[] }> }; paths: Record<string, object> };
const document = app.swagger() as unknown as Document;
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'core/error-codes.ts')
  .map((file) => readFileSync(`src/${file}`, 'utf8'));

test('the list of codes is closed: the source uses each, and OpenAPI and the docs have them and no other', () => {
  expect(new Set(errorCodes).size).toBe(errorCodes.length);
  expect(document.components.schemas['ErrorCode']!.enum).toEqual(errorCodes);
  const ofBookings = errorCodes.slice(Object.values(kindCodes).length);
  const isUsed = (code: string) => sources.some((text) => text.includes(`'${code}'`) || text.includes(`  ${code}:`));
  expect(ofBookings.filter((code) => !isUsed(code))).toEqual([]);
  const page = readFileSync('docs/reference/errors.md', 'utf8');
  const listed = page
    .split(/^##+ /m)
    .filter((section) => /^(Codes|Booking errors)\n/.test(section))
    .flatMap((section) => [...section.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code]) => code!));
  expect([...new Set(listed)].toSorted()).toEqual(errorCodes.toSorted());
});
