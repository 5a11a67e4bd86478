import { afterAll, expect, test } from 'vitest';
import { Type } from '@sinclair/typebox';
import Fastify from 'fastify';
import { createKeyLookup } from '../../../src/http/auth/key-lookup.ts';
import { buildApp, type AppOptions } from '../../../src/app.ts';
import { allGuards } from '../../../src/core/context.ts';
import { registerDeprecation, type Deprecation } from '../../../src/http/deprecation.ts';
import { responses } from '../../../src/http/responses.ts';
import { v2 } from '../../../src/interfaces/v2.ts';
import { openTestApp, openTestDatabase, ownDatabase, send, settings } from '../../support/test-app.ts';

const deprecation = { since: '2026-01-01', sunset: '2026-12-31', successor: '/v2/courses' };
const deprecationHeader = '@1767225600';
const sunsetHeader = 'Thu, 31 Dec 2026 00:00:00 GMT';
const successorLink = `<${settings.publicUrl}/v2/courses>; rel="successor-version"`;

/** The application with a deprecated copy of the course routes at /v1, and deprecated routes that need no key. */
async function buildWithDeprecated(options: AppOptions) {
  const app = await buildApp(options);
  const countNothing = app.createRateLimit({ max: 1_000_000 });
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      if (route.url === '/v1/courses') route.config = { ...route.config, deprecation };
    });
    registerDeprecation(scope, settings.publicUrl);
    const { database } = options;
    const noRate = { findRate: () => undefined, buckets: () => undefined };
    const { findKey } = createKeyLookup(database);
    const limits = { findKey, countInvalidKey: countNothing, countRequest: countNothing, ...noRate };
    await scope.register(v2, { prefix: '/v1', database, settings, guards: allGuards, version: 'test', ...limits });
  });
  const response = responses.ok(Type.Object({}));
  const schema = { summary: 'A test', tags: ['Health checks'], security: [], response };
  app.get('/deprecated', { schema, config: { deprecation } }, () => ({}));
  app.get('/deprecated-only', { schema, config: { deprecation: { since: '2026-01-01' } } }, () => ({}));
  app.get('/current', { schema }, () => ({}));
  return app;
}

const testApp = await openTestApp(openTestDatabase(await ownDatabase(afterAll)), {}, buildWithDeprecated);
afterAll(testApp.close);
const me = await testApp.createProvider();
for (let n = 0; n < 2; n += 1) await me.course();

const headersOf = ({ headers }: { headers: Record<string, unknown> }) => [
  headers['deprecation'],
  headers['sunset'],
  headers['link'],
];
const deprecated = [deprecationHeader, sunsetHeader, successorLink];
const current = [undefined, undefined, undefined];

test('a deprecated list has the headers, and its Link beside that of the next page, also from the cache', async () => {
  const nextLink = `<${settings.publicUrl}/v1/courses?limit=1&since_id=`;
  const responses = [await me.get('/v1/courses?limit=1'), await me.get('/v1/courses?limit=1')];
  for (const response of responses) {
    const [since, sunset, link] = headersOf(response);
    expect([response.status, since, sunset]).toEqual([200, deprecationHeader, sunsetHeader]);
    expect(String(link).split(', ')).toEqual([expect.stringContaining(nextLink), successorLink]);
    expect(String(link)).toContain('; rel="next", ');
  }
  expect(responses[1]!.headers['link']).toBe(responses[0]!.headers['link']);
});

test('304, HEAD and error responses have the headers', async () => {
  const { headers } = await me.get('/v1/courses');
  const notModified = await me.get('/v1/courses', { 'if-none-match': String(headers['etag']) });
  expect([notModified.status, ...headersOf(notModified)]).toEqual([304, ...deprecated]);
  const anyTag = await me.get('/v1/courses', { 'if-none-match': '*' });
  expect([anyTag.status, ...headersOf(anyTag)]).toEqual([304, ...deprecated]);
  const head = await me.request('HEAD')('/v1/courses');
  expect([head.status, ...headersOf(head)]).toEqual([200, ...deprecated]);
  const invalid = await me.get('/v1/courses?limit=0');
  expect([invalid.status, ...headersOf(invalid)]).toEqual([400, ...deprecated]);
  const wrongKey = await me.get('/v1/courses', { 'x-api-key': 'wrong' });
  expect([wrongKey.status, ...headersOf(wrongKey)]).toEqual([401, ...deprecated]);
  const created = await me.post('/v1/courses', { title: 'Deprecated' });
  expect([created.status, ...headersOf(created)]).toEqual([201, ...deprecated]);
});

test('without a sunset or a successor only Deprecation is sent', async () => {
  const response = await send(testApp.app, { url: '/deprecated-only' });
  expect(headersOf(response)).toEqual([deprecationHeader, undefined, undefined]);
});

test('other routes and both interfaces have no such headers', async () => {
  const list = await me.get('/v2/courses');
  const responses = [await send(testApp.app, { url: '/current' }), list, await me.get('/schools')];
  for (const response of responses) expect(headersOf(response)).toEqual(current);
});

test('the OpenAPI document marks exactly the deprecated operations', () => {
  const { paths } = testApp.app.swagger() as { paths: Record<string, Record<string, { deprecated?: boolean }>> };
  const marked = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.deprecated !== undefined)
      .map(([method, operation]) => [method, path, operation.deprecated]),
  );
  expect(marked).toEqual([
    ['get', '/v1/courses', true],
    ['post', '/v1/courses', true],
    ['get', '/deprecated', true],
    ['get', '/deprecated-only', true],
  ]);
});

test('a deprecated operation still refers to components', () => {
  const { paths } = testApp.app.swagger() as { paths: Record<string, unknown> };
  const clientError = { $ref: '#/components/responses/ClientError' };
  expect(paths['/deprecated']).toMatchObject({ get: { responses: { '4XX': clientError } } });
});

test.each<[Deprecation, string]>([
  [{ since: '2026-02-30' }, '2026-02-30 is not a date'],
  [{ since: 'soon' }, 'soon is not a date'],
  [{ since: '2026-01-02', sunset: '2026-01-01' }, 'The sunset 2026-01-01 is before the deprecation 2026-01-02'],
])('%o fails at start', (invalid, message) => {
  const app = Fastify();
  registerDeprecation(app, settings.publicUrl);
  expect(() => app.get('/', { config: { deprecation: invalid } }, () => ({}))).toThrow(message);
});
