import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, expect, test } from 'vitest';
import type { CompleteOperation, Parameter } from '../../../src/http/openapi/operation-types.ts';
import { loadDemo } from '../../../src/plugins/transfer/demo/load.ts';
import { packageVersion } from '../../../src/core/project.ts';
import { fixClock } from '../../support/fixed-clock.ts';
import { dereference } from '../../support/openapi.ts';
import {
  exampleKey,
  examplesFile,
  recordResponses,
  toExamples,
  writeExamples,
  type Operation,
  type Paths,
} from '../../support/record-examples.ts';
import { openTestApp, openTestDatabase, ownDatabase, send, settings } from '../../support/test-app.ts';

type Schema = Record<string, unknown>;
type Media = { schema: Schema; example?: unknown };
type Documented = Operation & { responses: Record<string, { content: Record<string, Media> }> };

const apiKey = 'demo-key-of-the-examples-0123456789';
/** The day of each recording, so that a new one changes only what the code has changed. */
const today = '2026-11-26';
const database = await ownDatabase(afterAll);
await fixClock(database, `${today} 10:23:05+01`);
const testApp = await openTestApp(openTestDatabase(database), { version: packageVersion() });
afterAll(testApp.close);
await loadDemo(testApp.database, settings, () => apiKey, today);
const recorded = await recordResponses(testApp, apiKey);
if (process.env['UPDATE_EXAMPLES']) await writeExamples(toExamples(recorded));

const document = await send(testApp.app, { url: '/openapi.json' });
const { paths } = dereference<{ paths: Paths<Documented> }>(document.json<object>());
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);
// Optimizing the code of so many validators takes longer than running it.
const ajv = formats.default(new Ajv2020({ strict: false, code: { optimize: false } }));
const documented = operations.flatMap(({ name, operation }) =>
  Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content }]) =>
      Object.entries(content).map(([type, { schema, example }]) => ({
        ...{ name, status: type === 'application/json' ? status : `${status} ${type}`, operation, example },
        validate: ajv.compile(forbidUndeclared(schema)),
      })),
    ),
);

/** The schema without undeclared properties, which the service never sends. */
function forbidUndeclared(schema: Schema): Schema {
  const entries = Object.entries(schema).map(([key, child]) => {
    if (key === 'properties') return [key, mapValues(child as Record<string, Schema>, forbidUndeclared)];
    if (key === 'anyOf') return [key, (child as Schema[]).map(forbidUndeclared)];
    return [key, key === 'items' ? forbidUndeclared(child as Schema) : child];
  });
  const closed = 'properties' in schema ? { additionalProperties: false } : {};
  return { ...closed, ...(Object.fromEntries(entries) as Schema) };
}

function mapValues<V, R>(object: Record<string, V>, map: (value: V, key: string) => R) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** The example with other fields in its first item, or in itself. */
function changeExample(example: unknown, fields: object): unknown {
  if (Array.isArray(example)) return [{ ...example[0], ...fields }];
  const { pagination, items } = example as { pagination?: object; items?: object[] };
  return pagination && items
    ? { pagination, items: [{ ...items[0], ...fields }] }
    : { ...(example as object), ...fields };
}

test('a new demo school accepts every example request', () => {
  expect(recorded.filter(({ status }) => status >= 300)).toEqual([]);
});

test('every operation with a body documents an example of it', () => {
  const withoutExample = operations
    .filter(({ operation }) => operation.requestBody && !operation.requestBody.content['application/json']!.example)
    .map(({ name }) => name);
  expect(withoutExample, 'add them to test/support/example-requests.ts').toEqual([]);
});

test('every success response has a recorded example', () => {
  expect(documented.length).toBeGreaterThan(0);
  const missing = documented.filter(({ example }) => example === undefined);
  const names = missing.map(({ name, status }) => `${name}: ${status}`);
  expect(names, 'add them to test/support/example-requests.ts, and run `npm run renew`').toEqual([]);
  const used = new Set(documented.map(({ operation, status }) => `${operation.operationId} ${status}`));
  const examples = toExamples(recorded);
  const responses = Object.entries(examples).flatMap(([id, statuses]) =>
    Object.keys(statuses).map((s) => `${id} ${s}`),
  );
  expect(responses.filter((response) => !used.has(response))).toEqual([]);
});

test('the examples are those of a new recording', () => {
  expect(JSON.parse(readFileSync(examplesFile, 'utf8'))).toEqual(toExamples(recorded));
});

test.each(documented)('the example of $name: $status matches its schema', ({ validate, example }) => {
  expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
});

test('every response of the demo school matches the schema of its example', () => {
  const invalid = recorded.filter(({ operationId, status, body }) => {
    const found = documented.find(
      (one) => one.operation.operationId === operationId && one.status === exampleKey(status, body),
    );
    return !found?.validate(body);
  });
  expect(invalid).toEqual([]);
});

test.each(documented.filter(({ example }) => typeof example !== 'string'))(
  'a changed example of $name: $status is invalid',
  ({ validate, example }) => {
    const [item] = [(example as { items?: object[] }).items ?? example].flat();
    const [field] = Object.keys(item as object);
    expect(validate(changeExample(example, {}))).toBe(true);
    expect(validate(changeExample(example, { [field!]: { changed: true } }))).toBe(false);
    expect(validate(changeExample(example, { [field!]: undefined }))).toBe(false);
    expect(validate(changeExample(example, { undeclared: 1 }))).toBe(false);
  },
);

test('examples contain no key, token or password', () => {
  const text = readFileSync(examplesFile, 'utf8');
  expect(text.match(/demo-key|fjord og fjell|\$argon2/g)).toBeNull();
  expect(text.match(/cbs_[^"]*|\/my\/[^"]*/g)).toEqual(['cbs_EXAMPLE_KEY', '/my/sign-in/EXAMPLE-TOKEN']);
});

test('examples and document stay small', () => {
  expect(Buffer.byteLength(JSON.stringify(JSON.parse(readFileSync(examplesFile, 'utf8'))))).toBeLessThan(120_000);
  expect(Buffer.byteLength(document.text)).toBeLessThan(600_000);
});

test('each GET with the examples of the API reference is a valid request to the demo school', async () => {
  type Get = { get?: CompleteOperation };
  type Reference = { paths: Record<string, Get>; components: { parameters: Record<string, Parameter> } };
  const reference = (await send(testApp.app, { url: '/docs/openapi.json' })).json<Reference>();
  const shared = reference.components.parameters;
  const toText = (example: unknown) => encodeURIComponent([example].flat().map(String)[0]!);
  const urls = Object.entries(reference.paths).flatMap(([path, { get }]) => {
    if (!get) return [];
    const parameters = (get.parameters ?? []).map((one) =>
      '$ref' in one ? shared[one.$ref.split('/').at(-1)!]! : one,
    );
    const inPath = new Map(parameters.map(({ name, example }) => [name, example]));
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => toText(inPath.get(name) ?? 1));
    const query = parameters
      .filter((one) => one.in === 'query' && one.example !== undefined)
      .map(({ name, example }) => `${name}=${toText(example)}`);
    return [query.length === 0 ? filled : `${filled}?${query.join('&')}`];
  });
  expect(urls.length).toBeGreaterThan(0);
  const failed: string[] = [];
  for (const url of urls) {
    const { status } = await send(testApp.app, { url, headers: { 'x-api-key': apiKey } });
    if (status !== 200) failed.push(`${url}: ${status}`);
  }
  // The webhook of the recorded requests is deleted.
  const absent = ['/v2/webhooks/1', '/v2/webhooks/1/deliveries'];
  expect(failed).toEqual(absent.map((url) => `${url}: 404`));
});

test('every parameter has an example that its schema accepts', () => {
  type Parameter = { name: string; schema: Schema; example?: unknown };
  const parameters = operations.flatMap(({ name, operation }) =>
    ((operation as { parameters?: Parameter[] }).parameters ?? []).map((one) => ({ of: name, ...one })),
  );
  expect(parameters.length).toBeGreaterThan(400);
  const invalid = parameters.filter(({ schema, example }) => example === undefined || !ajv.validate(schema, example));
  const names = invalid.map(({ of, name, example }) => `${of} ${name}: ${String(example)}`);
  expect(names, 'add `examples` to the schema, or the name to src/http/openapi/parameter-examples.json').toEqual([]);
});

test('all problem details have examples that their schema accepts', () => {
  type Problems = { schema: Schema; examples?: Record<string, { value: { status: number } }> };
  const contents = operations.flatMap(({ name, operation }) =>
    Object.entries(operation.responses).flatMap(([status, { content = {} }]) => {
      const problems = (content as Record<string, unknown>)['application/problem+json'] as Problems | undefined;
      return problems ? [{ name: `${name} ${status}`, ...problems }] : [];
    }),
  );
  expect(contents.length).toBeGreaterThan(400);
  const invalid = contents.filter(
    ({ schema, examples = {} }) =>
      Object.keys(examples).length === 0 || !Object.values(examples).every(({ value }) => ajv.validate(schema, value)),
  );
  expect(invalid.map(({ name }) => name)).toEqual([]);
});

test('no order of the demo data has the id of a booking', async () => {
  const { rows } = await testApp.database.pool.query<{ orders: number; equal: number }>(
    'select count(*)::int as orders, count(*) filter (where id in (select id from bookings))::int as equal from orders',
  );
  expect(rows[0]!.orders).toBeGreaterThan(100);
  expect(rows[0]!.equal).toBe(0);
  const pairs = [...readFileSync(examplesFile, 'utf8').matchAll(/"order_id": "(\d+)",\s+"booking_id": "(\d+)"/g)];
  expect(pairs.length).toBeGreaterThan(2);
  expect(pairs.filter(([, order, booking]) => order === booking)).toEqual([]);
});
