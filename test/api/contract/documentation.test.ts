import { expect, test } from 'vitest';
import { dereference } from '../../support/openapi.ts';
import { sharedTestApp } from '../../support/test-app.ts';

type Response = { headers?: object; description: string; content?: Record<string, { examples?: object }> };
type Parameter = {
  deprecated?: boolean;
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: object;
};
type Operation = { description: string; parameters?: Parameter[]; responses: Record<string, Response> };

const { app, createProvider } = await sharedTestApp();
const { paths } = dereference<{ paths: Record<string, Record<string, Operation>> }>(app.swagger());
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
);
const responses = operations.flatMap(({ name, responses }) =>
  Object.entries(responses).map(([status, response]) => ({ name: `${name} ${status}`, status, ...response })),
);
const withHeader = (header: string) =>
  responses.filter(({ headers }) => header in (headers ?? {})).map(({ name }) => name);
const withStatus = (...statuses: string[]) =>
  responses.filter(({ status }) => statuses.includes(status)).map(({ name }) => name);

test.each(operations)('the description of $name names only its parameters, fields and values', (operation) => {
  const { description, ...rest } = operation;
  const text = JSON.stringify(rest);
  // Members that are read by another operation follow.
  const [own = ''] = description.split(' Fields that are not sent are taken');
  const names = [...own.matchAll(/`([a-z0-9]+(?:_[a-z0-9]+)+(?:\[\])?)`/g)].map(([, name]) => name!);
  expect(names.filter((name) => !text.includes(`"${name}"`) && !text.includes(`"${name}[]"`))).toEqual([]);
});

test('responses document the headers that they have', () => {
  expect(withStatus('503').length).toBeGreaterThan(0);
  expect(withHeader('Retry-After')).toEqual(withStatus('429', '503'));
  const ofMainInterface = responses.filter(({ name, status }) => / \/v2\//.test(name) && /^[45]/.test(status));
  expect(withHeader('X-Error-Code')).toEqual(ofMainInterface.map(({ name }) => name));
  const isDetailed = ({ content }: { content?: object }) => 'application/problem+json' in (content ?? {});
  expect(responses.filter(isDetailed)).toEqual(ofMainInterface);
  expect(withHeader('WWW-Authenticate')).toEqual(withStatus('401'));
  const hasIgnored = ({ name, status }: { name: string; status: string }) =>
    /^(2..|400)$/.test(status) && !/ \/(live|ready) /.test(name);
  expect(withHeader('X-Ignored-Parameters')).toEqual(responses.filter(hasIgnored).map(({ name }) => name));
});

test('every error has an example', () => {
  const isWithout = ({ status, content }: { status: string; content?: Response['content'] }) =>
    /^[45]/.test(status) && !content!['application/json']!.examples;
  expect(responses.filter(isWithout).map(({ name }) => name)).toEqual([]);
});

test('every optional filter without a default says what happens unless it is sent', () => {
  const query = operations.flatMap(({ parameters = [] }) =>
    parameters.filter((one) => one.in === 'query' && one.deprecated !== true),
  );
  const optional = query.filter(({ required, schema }) => !required && !('default' in schema));
  // A range is open at an end that is not sent, and a search needs one keyword.
  const isObvious = /_(min|max)$|^(email|firstname|lastname|username)$/;
  const silent = optional.filter(
    ({ name, description }) => !isObvious.test(name) && !/unless (\w+ is )?sent/.test(description),
  );
  expect(optional.length).toBeGreaterThan(100);
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test('the limit of a list has no maximum, since a greater one counts as 250', async () => {
  const lists = operations.filter(({ name }) => name !== 'GET /v2/changes');
  const limits = lists.flatMap(({ parameters = [] }) => parameters.filter(({ name }) => name === 'limit'));
  expect(limits.length).toBeGreaterThan(10);
  for (const { schema, description } of limits) {
    expect(schema).toMatchObject({ minimum: 1 });
    expect(schema).not.toHaveProperty('maximum');
    expect(description).toContain('more than 250 counts as 250');
  }
  const me = await createProvider();
  expect((await me.get('/v2/courses?limit=9007199254740991')).status).toBe(200);
});

test('operations with an item document 404', () => {
  const without = ['GET /schools', 'GET /v2/schools', 'GET /v2/whoami'];
  const withItem = operations.filter(({ name }) => name.includes('{') || without.includes(name));
  expect(withStatus('404')).toEqual(withItem.map(({ name }) => `${name} 404`));
});

test('liveness and readiness document the statuses that they send', () => {
  expect(Object.keys(paths['/live']!['get']!.responses)).toEqual(['200', '4XX']);
  expect(Object.keys(paths['/ready']!['get']!.responses)).toEqual(['200', '503', '4XX']);
});

test('the idempotency key is documented with its lengths, and with its effect', () => {
  const keys = operations.flatMap(({ parameters = [] }) => parameters.filter(({ name }) => name === 'Idempotency-Key'));
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.map(({ name, schema }) => ({ name, schema }))).toEqual(
    keys.map(() => ({ name: 'Idempotency-Key', schema: { type: 'string', minLength: 1, maxLength: 255 } })),
  );
  expect(new Set(keys.map(({ description }) => description)).size).toBe(2);
});

test('a 200 beside a 201 says that the item existed, or that nothing was written', () => {
  const found = operations.filter(({ responses }) => '200' in responses && '201' in responses);
  expect(found.map(({ responses }) => responses['200']!.description).sort()).toEqual([
    'A dry run',
    ...Array<string>(4).fill('It existed already'),
  ]);
});
