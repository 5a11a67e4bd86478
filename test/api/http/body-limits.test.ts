import { request, type RequestOptions } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { costlyBodies } from '../../support/costly-bodies.ts';
import {
  contentTypes,
  countRows,
  dialects,
  encodeBody,
  fieldErrors,
  encodeMultipart,
  toPairs,
  contentTypeHeader,
  endpointUrl,
  sendWrite,
  sendRawWrite,
  writeEndpoints,
} from '../../support/request-bodies.ts';
import { sharedPort, sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const me = await createProvider();
const [postCourse, putSchool] = writeEndpoints as [Write, Write, ...Write[]];
type Write = (typeof writeEndpoints)[number];

const port = await sharedPort();

/** Sends a body over a real socket: chunked if there is no content-length. */
const overSocket = (options: RequestOptions, body: string | Buffer) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent: false, ...options }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
      incoming.on('end', () => resolve({ status: incoming.statusCode, text })).on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });

const reported = (response: { text: string }) => (JSON.parse(response.text) as { error: string }).error;
const each = <T>(values: readonly T[]) =>
  writeEndpoints.flatMap((endpoint) => values.map((value) => [endpoint.name, value, endpoint] as const));
const mebibyte = 1_048_576;
const large = { title: 'Too large', org_nr: '1', text_description: 'x'.repeat(mebibyte) };

test.each(
  each(['application/json', 'text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded', 'x/y', '']),
)('%s without a body is an empty form: %s', async (_name, type, endpoint) => {
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
  const response = await me.request(endpoint.method)(await endpointUrl(me, endpoint), undefined, headers);
  const { required } = endpoint;
  expect(response.status).toBe(required.length > 0 ? 400 : endpoint.created);
  expect(fieldErrors(response)).toEqual({ missing: required, notValid: [] });
});

test.each(dialects)('an empty chunked body is an empty form: %s', async (dialect) => {
  const headers = { 'x-api-key': me.apiKey, 'transfer-encoding': 'chunked', ...contentTypeHeader(dialect) };
  const response = await overSocket({ method: 'POST', path: '/v2/courses', headers }, '');
  expect(response).toEqual({ status: 400, text: '{"error":"Missing field(s): title"}' });
});

test.each([
  ['JSON null', contentTypes.json, 'null'],
  ['an empty JSON object', contentTypes.json, ' {} '],
  ['blanks as JSON', contentTypes.json, ' \n'],
  ['a multipart without parts', contentTypes.multipart, '--edge--\r\n'],
  ['a form of ampersands', contentTypes.form, '&&'],
])('%s is an empty form', async (_name, type, body) => {
  expect(await sendRawWrite(me, postCourse, type, body)).toMatchObject({
    status: 400,
    text: '{"error":"Missing field(s): title"}',
  });
});

test.each(each(['text/plain', 'text/xml', 'application/octet-stream', 'application/jsonp', 'text/json', 'nonsense']))(
  '%s rejects a body of type %s',
  async (_name, type, endpoint) => {
    const response = await sendRawWrite(me, endpoint, type, encodeBody('form', endpoint.full));
    expect(response.status).toBe(415);
    expect(response.json()).toHaveProperty('error');
  },
);

test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8'])(
  'accepts %s',
  async (type) => {
    expect((await sendRawWrite(me, putSchool, type, encodeBody('json', putSchool.minimal))).status).toBe(200);
  },
);

test.each(each(['gzip', 'deflate', 'br', 'GZIP', 'gzip, identity']))(
  '%s rejects Content-Encoding: %s',
  async (_name, encoding, endpoint) => {
    const body = gzipSync(encodeBody('json', endpoint.minimal));
    const headers = { ...contentTypeHeader('json'), 'content-encoding': encoding };
    const response = await me.request(endpoint.method)(await endpointUrl(me, endpoint), body, headers);
    expect(response.status).toBe(415);
  },
);

test.each([
  '{',
  '{"title":}',
  "{'title':'A'}",
  '{"title":"A"',
  'title=A',
  '{"title":"A"}{}',
  'undefined',
  '[1',
  '\u0000',
])('%j is not JSON', async (body) => {
  for (const endpoint of writeEndpoints)
    expect((await sendRawWrite(me, endpoint, contentTypes.json, body)).status, endpoint.name).toBe(400);
});

test.each(['[]', '[{"title":"A"}]', '"title=A"', '1', 'true', 'false', '0', '""'])(
  'JSON %s is rejected: it has no fields',
  async (body) => {
    for (const endpoint of writeEndpoints)
      expect((await sendRawWrite(me, endpoint, contentTypes.json, body)).status, endpoint.name).toBe(400);
  },
);

const jsonPart = (value: string) =>
  `--edge\r\ncontent-disposition: form-data; name="title"\r\ncontent-type: application/json\r\n\r\n${value}\r\n--edge--\r\n`;

test('a part of a multipart body may be JSON', async () => {
  const response = await sendRawWrite(me, postCourse, contentTypes.multipart, jsonPart(' 2027 '));
  expect(await postCourse.read(me, response)).toMatchObject({ title: '2027' });
  const text = await sendRawWrite(me, postCourse, contentTypes.multipart, jsonPart('"As text"'));
  expect(await postCourse.read(me, text)).toMatchObject({ title: 'As text' });
});

test.each([
  ['no boundary', 'multipart/form-data', encodeMultipart([['title', 'A']])],
  ['another boundary', 'multipart/form-data; boundary=other', encodeMultipart([['title', 'A']])],
  ['cut short', contentTypes.multipart, '--edge\r\ncontent-disposition: form-data; name="title"\r\n\r\nA'],
  ['no name', contentTypes.multipart, '--edge\r\n\r\nA\r\n--edge--\r\n'],
  ['a part of invalid JSON', contentTypes.multipart, jsonPart('"A')],
  [
    'the name of a property of objects',
    contentTypes.multipart,
    encodeMultipart([
      ['title', 'A'],
      ['toString', 'B'],
    ]),
  ],
])('a multipart body with %s is rejected', async (_name, type, body) => {
  const before = await countRows(me);
  expect((await sendRawWrite(me, postCourse, type, body)).status).toBe(400);
  expect(await countRows(me)).toBe(before);
});

test.each(each(dialects))('%s rejects more than 1 MiB with Content-Length: %s', async (_name, dialect, endpoint) => {
  const before = await countRows(me);
  const body = encodeBody(dialect, large);
  const headers = { 'x-api-key': me.apiKey, 'content-length': Buffer.byteLength(body), ...contentTypeHeader(dialect) };
  const response = await overSocket({ method: endpoint.method, path: await endpointUrl(me, endpoint), headers }, body);
  expect(response.status).toBe(413);
  expect(reported(response)).toBeTruthy();
  expect(await countRows(me)).toBe(before);
});

test.each(each(dialects))('%s rejects more than 1 MiB in chunks: %s', async (_name, dialect, endpoint) => {
  const before = await countRows(me);
  const headers = { 'x-api-key': me.apiKey, 'transfer-encoding': 'chunked', ...contentTypeHeader(dialect) };
  const response = await overSocket(
    { method: endpoint.method, path: await endpointUrl(me, endpoint), headers },
    encodeBody(dialect, large),
  );
  expect(response.status).toBe(413);
  expect(reported(response)).toBeTruthy();
  expect(await countRows(me)).toBe(before);
});

test.each(dialects)('accepts a chunked body just below 1 MiB: %s', async (dialect) => {
  const fields = (length: number) => ({ ...putSchool.minimal, unknown: 'x'.repeat(length) });
  const body = encodeBody(dialect, fields(mebibyte - encodeBody(dialect, fields(0)).length));
  const headers = { 'x-api-key': me.apiKey, 'transfer-encoding': 'chunked', ...contentTypeHeader(dialect) };
  const response = await overSocket({ method: 'PUT', path: '/v2/schools', headers }, body);
  expect(response.status, response.text).toBe(200);
});

test.each(
  each([
    ';filename="a.txt"',
    ';filename="a.txt"\r\ncontent-type: text/plain',
    ';filename=""\r\ncontent-type: image/png',
  ]),
)('%s rejects a file: %j', async (_name, file, endpoint) => {
  const before = await countRows(me);
  const part = `--edge\r\ncontent-disposition: form-data; name="text_description"${file}\r\n\r\nA\r\n`;
  const response = await sendRawWrite(
    me,
    endpoint,
    contentTypes.multipart,
    part + encodeMultipart(toPairs(endpoint.minimal)),
  );
  expect(response.status).toBe(400);
  expect(await countRows(me)).toBe(before);
});

test.each(writeEndpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
  '%s ignores an empty file part',
  async (_name, endpoint) => {
    const me = await createProvider();
    const head = '--edge\r\ncontent-disposition: form-data; name="logo"; filename=""';
    const part = `${head}\r\ncontent-type: application/octet-stream\r\n\r\n\r\n`;
    const response = await sendRawWrite(
      me,
      endpoint,
      contentTypes.multipart,
      part + encodeMultipart(toPairs(endpoint.minimal)),
    );
    expect(response.status, response.text).toBe(endpoint.created);
  },
);

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'x']));

test.each(costlyBodies)('%s is rejected', async (_name, type, body) => {
  const before = await countRows(me);
  const response = await sendRawWrite(me, postCourse, type, body);
  expect(response.status, response.text.slice(0, 200)).toBe(400);
  expect(await countRows(me)).toBe(before);
});

test.each([
  [contentTypes.form, 'title=%s&__proto__[polluted]=1&__proto__=1&constructor[prototype][polluted]=1'],
  [contentTypes.form, 'title=%s&custom_properties[__proto__]=1&custom_properties[constructor][prototype][polluted]=1'],
  [contentTypes.form, 'title=%s&tags[__proto__][polluted]=1&tags[constructor][prototype][polluted]=1'],
  [contentTypes.form, 'title=%s&translations[__proto__][polluted]=1&translations[en][__proto__][polluted]=1'],
  [contentTypes.form, 'title=%s&custom_properties={"__proto__":{"polluted":"1"}}'],
  [contentTypes.json, '{"title":"%s","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'],
  [
    contentTypes.json,
    '{"title":"%s","custom_properties":{"__proto__":"1","constructor":{"prototype":{"polluted":1}}}}',
  ],
  [contentTypes.json, '{"title":"%s","custom_properties":"{\\"__proto__\\":{\\"polluted\\":1}}"}'],
  [contentTypes.json, '{"title":"%s","translations":{"__proto__":{"polluted":"1"}}}'],
  [
    contentTypes.multipart,
    encodeMultipart([
      ['title', '%s'],
      ['__proto__[polluted]', '1'],
      ['constructor[prototype][polluted]', '1'],
    ]),
  ],
  [
    contentTypes.multipart,
    encodeMultipart([
      ['title', '%s'],
      ['__proto__', '1'],
      ['hasOwnProperty', '1'],
      ['toString', '1'],
    ]),
  ],
])('%s %s does not pollute a prototype', async (type, body) => {
  const prototype = Object.getOwnPropertyNames(Object.prototype);
  const response = await sendRawWrite(me, postCourse, type, body.replace('%s', `Course ${Math.random()}`));
  expect([201, 400]).toContain(response.status);
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototype);
  expect({}).not.toHaveProperty('polluted');
  expect([]).not.toHaveProperty('polluted');
});

test.each(dialects)('thousands of nested keys are rejected: %s', async (dialect) => {
  const response = await sendWrite(me, postCourse, dialect, {
    title: `Many ${dialect}`,
    custom_properties: many(4_000),
  });
  expect(response.status, response.text).toBe(400);
});

test.each(['form', 'json'] as const)('a field named like an Object method is an unknown field: %s', async (dialect) => {
  const odd = { toString: '1', hasOwnProperty: '1', valueOf: '1', constructor: '1', length: '1' };
  const response = await sendWrite(me, postCourse, dialect, { title: `Odd ${dialect}`, ...odd });
  expect(response.status, response.text).toBe(201);
});

test('a far too long title is rejected before the slow Unicode normalization', async () => {
  const me = await createProvider();
  const normalize = vi.spyOn(String.prototype, 'normalize');
  const response = await me.post('/v2/courses', { title: '\u0301\u0327'.repeat(200_000) });
  expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: title' }]);
  const normalized = normalize.mock.contexts.map((text) => (text as string).length);
  expect(normalized.filter((length) => length > 10_000)).toEqual([]);
});
