import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import type { Operation as Described } from '../reliability/support/document.ts';
import { seededRandom } from '../reliability/runner.ts';
import { createGenerator, type Pool } from '../reliability/support/requests.ts';
import * as bodies from '../support/dialects.ts';
import { listExampleRequests } from '../support/example-requests.ts';
import { dereference } from '../support/openapi.ts';
import { parameterOf } from '../support/query-parameters.ts';
import { toRequest, type Operation as Documented, type Paths } from '../support/record-examples.ts';
import { webhookUrl, type Request, type Step } from './servers.ts';

const { dialects, hostileValues } = bodies;
type Parameter = Described['parameters'][number];
type Body = { schema: NonNullable<Described['body']>; example?: bodies.Fields };
type Operation = Documented & { parameters?: Parameter[]; requestBody?: { content: Record<string, Body> } };

const { paths } = dereference<{ paths: Paths<Operation> }>(
  JSON.parse(readFileSync('test/snapshots/openapi.json', 'utf8')) as object,
);
const bodyOf = (path: string, method: string) => paths[path]![method]!.requestBody!.content['application/json']!;
bodyOf('/v2/webhooks', 'post').example!['url'] = webhookUrl;
// A job queues reminders, in each server at another time, so that the ids of later mails would differ.
const settings = bodyOf('/v2/booking-settings', 'put');
delete settings.schema.properties!['mails'];
delete settings.example!['mails'];

const operations = Object.entries(paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, { requestBody, parameters = [], ...operation }]) => {
    const query = parameters.filter((one) => one.in === 'query');
    const json = requestBody?.content['application/json'];
    return { ...operation, requestBody, parameters, query, json, template, method: method.toUpperCase() };
  }),
);
type Listed = (typeof operations)[number];
const reads = operations.filter(({ method }) => method === 'GET');
const examples = listExampleRequests(operations.map((one) => ({ ...one, method: one.method.toLowerCase() })));

const unknownId = 999_999_999;
/** Items of the demo school. */
const ids = { courses: [1, 2, 32, 39], dates: [1, 2, 76], users: [1, 2, 9], customers: [1, 2], tags: [1, 2] };
const school = { ids: { ...ids, provider: 1, partner: 2 } };

/** The path of an item of the demo school, or of another one. */
function toPath({ operationId, template }: Listed, id?: number | string) {
  const { path } = examples.find((one) => one.operationId === operationId)!;
  const values = typeof path === 'object' ? path : {};
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(id ?? values[name] ?? 1));
}

/** The path with a query beside what the read requires. */
function toUrl(operation: Listed, query = '') {
  const found = examples.find((one) => one.operationId === operation.operationId && typeof one.query === 'string');
  const required = String(found?.query ?? '').replace(/^format=.*/, '');
  const isSent = query.startsWith(required.split(/[[=]/)[0]!);
  return `${toPath(operation)}?${[...(isSent ? [] : [required]), query].filter(Boolean).join('&')}`;
}

const seed = 1;
const [goodValues, badValues, combinations] = [2, 2, 4];

const includesOf = ({ schema }: Parameter) => schema.anyOf![0]!.items!.enum as string[];
const valuesOf = (parameter: Parameter) =>
  parameterOf(school, parameter.name === 'since' ? { ...parameter, example: '0' } : parameter);

/** A parameter with valid and invalid values; others of the long list of invalid ones for the nth. */
function listQueries(parameter: Parameter, n: number) {
  const { name, schema } = parameter;
  const { good, bad } = valuesOf(parameter);
  const invalid = bad.map((_, turn) => bad[(turn + n * badValues) % bad.length]!).slice(0, badValues);
  const queries = [...fc.sample(good, { seed, numRuns: goodValues }).map(({ text }) => text), ...invalid, `${name}=`];
  if (name === 'include[]') queries.push(...includesOf(parameter).map((path) => `include[]=${path}&limit=4`));
  if (name === 'order_by') queries.push(...schema.enum!.map((one) => `order_by=${String(one)}&order_direction=desc`));
  if (name === 'format') queries.push('format=csv', 'format=csv&delimiter=semicolon&limit=3');
  return queries;
}

/** Some of the parameters at once. */
function combine(parameters: Parameter[]) {
  if (parameters.length < 4) return [];
  const good = parameters.map((one) => valuesOf(one).good);
  const some = fc.subarray(good, { minLength: 2, maxLength: 4 }).chain((chosen) => fc.tuple(...chosen));
  return fc.sample(some, { seed, numRuns: combinations }).map((all) => all.map(({ text }) => text).join('&'));
}

/** Each read in each language and by its ETag. */
export const listPlainReads = (): Request[] =>
  reads.flatMap((operation) => {
    const [path, name] = [toUrl(operation), operation.operationId];
    const headers: Request['headers'][] = [
      {},
      { 'if-none-match': `{${name}_headers.etag}` },
      { 'accept-language': 'no' },
    ];
    return [...headers.map((one) => ({ path, name, headers: one })), { path, method: 'HEAD' }];
  });

/** Each read with each of its parameters, in some combinations, and of items that exist or do not. */
export const listReads = (): Request[] =>
  reads.flatMap((operation) => {
    const queries = ['unknown=1', ...operation.query.flatMap(listQueries), ...combine(operation.query)];
    const items = operation.template.includes('{') ? [unknownId, 'x', '0', 3].map((id) => toPath(operation, id)) : [];
    return [...queries.map((query) => toUrl(operation, query)), ...items].map((path) => ({ path }));
  });

const send = (operation: Listed, body: bodies.Fields, dialect: bodies.Dialect): Request => {
  const headers = bodies.contentTypeHeader(dialect);
  return { method: operation.method, path: toPath(operation), headers, body: bodies.encodeBody(dialect, body) };
};

/** Values of another type than that of the field. */
const wrongValues: Record<string, unknown[]> = {
  integer: ['x', -1, 1.5],
  number: ['x', -1, [1]],
  boolean: ['maybe', 2, [true]],
  string: ['a\0b', { x: 1 }, 'x'.repeat(70_000)],
  array: ['x', [null], { x: 1 }],
  object: ['x', [1], 5],
};
const brokenBodies = ['{"a":', '[]', 'null', '"x"'];

/** Each write with each field alone invalid, with required and documented fields, and without or with a broken body. */
export const listWrites = (): Request[] =>
  operations.flatMap((operation) => {
    const { json, method, template } = operation;
    if (method === 'GET') return [];
    const path = toPath(operation);
    const bare = [
      { method, path },
      ...(template.includes('{') ? [{ method, path: toPath(operation, unknownId) }] : []),
    ];
    if (json === undefined) return bare;
    const { schema, example = {} } = json;
    const minimal = Object.fromEntries(Object.entries(example).filter(([name]) => schema.required?.includes(name)));
    const fields = Object.entries(schema.properties ?? {}).flatMap(([name, { type, anyOf }], n) => {
      const [known = 'string'] = [type, anyOf?.[0]?.type].flat().filter((one) => one !== 'null' && one !== undefined);
      const values = [hostileValues[(n * 7) % hostileValues.length], wrongValues[known]![n % 3]];
      return values.map((value, turn) => send(operation, { ...minimal, [name]: value }, dialects[(n + turn) % 3]!));
    });
    const broken = brokenBodies.map((body) => ({ ...bare[0]!, body, headers: bodies.contentTypeHeader('json') }));
    const unread = { ...bare[0]!, headers: { 'content-type': 'text/plain' }, body: 'x' };
    const whole = [{}, minimal, example, { ...example, unknown: 1 }];
    const valid = whole.flatMap((body) => dialects.map((dialect) => send(operation, body, dialect)));
    return [...bare, unread, ...broken, ...fields, ...valid];
  });

/** Each operation with each other kind of key. */
export const listKeys = (): Request[] =>
  operations.flatMap((operation) => {
    const { json, method } = operation;
    const request = { ...(json?.example ? send(operation, json.example, 'json') : { method }), path: toUrl(operation) };
    return (['read', 'booking', 'publishable', 'wrong', null] as const).map((key) => ({ ...request, key }));
  });

/** The documented examples, in an order in which a new demo school accepts them. */
export const listExamples = (): Step[] =>
  examples.map((example) => (own) => {
    const { method, url: path, payload } = toRequest(example, operations, own);
    const body = payload && { headers: bodies.contentTypeHeader('json'), body: JSON.stringify(payload) };
    return { method, path, name: example.operationId, ...body };
  });

/** Random requests, the same in each run. */
export function listRandom(count: number): Request[] {
  const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);
  const kinds = ['location', 'instructor', 'tag', 'product', 'admin', 'role', 'webhook', 'mail', 'label', 'place'];
  const own: Pool = {
    ...Object.fromEntries(kinds.map((kind) => [kind, upTo(5)])),
    ...{ course: upTo(40), coursedate: upTo(80), customer: upTo(12), user: upTo(30), participant: upTo(60) },
    ...{ order: upTo(60), booking: upTo(60), partner: [2, 3], code: ['KVELDSKAFFE', 'GAVE-FJORD-2408'] },
    dated: ['39/coursedates/76', ...upTo(9).map((n) => `1/coursedates/${n}`)],
    paid: upTo(9).map((n) => `${n}/payments/${n}`),
  };
  const foreign = Object.fromEntries(Object.keys(own).map((kind) => [kind, [unknownId]]));
  const names = reads.flatMap(({ query }) => query.map(({ name }) => name));
  const next = createGenerator(seededRandom(seed), { own, foreign }, names);
  return upTo(count).map((n) => {
    const operation = operations[n % operations.length]!;
    const { template: path, json } = operation;
    const { url, options } = next({ ...operation, name: path, path, body: json?.schema, responses: {} });
    return { ...options, path: url };
  });
}
