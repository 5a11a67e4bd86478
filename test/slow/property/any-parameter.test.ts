import { afterEach, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../../src/domains/school/auth/key-service.ts';
import { createOwner, fillPath, getEndpoints, type Endpoint } from '../../support/isolation.ts';
import { contentTypes, encodeBody } from '../../support/dialects.ts';
import { openTestAppForFile, type TestResponse } from '../../support/test-app.ts';

// The owner's data has fixed e-mails, so two owners need two databases.
const testApp = await openTestAppForFile();
const endpoints = getEndpoints(testApp);
let owner: Awaited<ReturnType<typeof createOwner>>;
let publishable = '';
beforeAll(async () => {
  owner = await createOwner(testApp);
  publishable = (await createKey(await owner.me.ctx(), { profile: 'publishable' })).apiKey;
});

const queryNames = ({ operation }: Endpoint) =>
  (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name.replace('[]', ''));
const bodyNames = ({ operation }: Endpoint) =>
  Object.keys(operation.requestBody?.content['application/json']?.schema.properties ?? {});
const everyName = [...new Set(endpoints.flatMap((one) => [...queryNames(one), ...bodyNames(one)]))].sort();

const forms: Record<string, (name: string) => string> = {
  scalar: (name) => `${name}=x`,
  list: (name) => `${name}[]=x&${name}[]=y`,
  object: (name) => `${name}[x]=y`,
  repeated: (name) => `${name}=x&${name}=y`,
  empty: (name) => `${name}=`,
};
const values: unknown[] = ['x', ['x', 'y'], [], [{ x: 'y' }], { x: 'y' }, { 0: 'x', 1: 'y' }, '', null, 1, true];

const failures: string[] = [];
afterEach(() => expect(failures.splice(0).join('\n')).toBe(''));

async function send(endpoint: Endpoint, query: string, headers: Record<string, string> = {}, body?: unknown) {
  const url = `${fillPath(endpoint.path, owner.ids)}?${query}`;
  const response: TestResponse = await owner.me.request(endpoint.method)(url, body, headers);
  if (response.status >= 500) failures.push(`${response.status} to ${endpoint.method} ${url} ${JSON.stringify(body)}`);
  return response.status;
}

test('include is a parameter of some operations and not of others', () => {
  const [having, lacking] = [true, false].map((has) =>
    endpoints.filter((one) => queryNames(one).includes('include') === has),
  );
  expect(having!.length).toBeGreaterThan(0);
  expect(lacking!.length).toBeGreaterThan(0);
  expect(everyName.length).toBeGreaterThan(0);
});

test.each(endpoints)('$name answers every query parameter of any operation in every form', async (endpoint) => {
  const known = queryNames(endpoint);
  const others = everyName.filter((name) => !known.includes(name));
  const groups = [0, 1, 2].map((n) => others.filter((_, at) => at % 3 === n));
  for (const form of Object.values(forms)) {
    for (const name of known) await send(endpoint, form(name));
    for (const group of groups) {
      const query = group.slice(0, 140).map(form).join('&');
      await send(endpoint, query);
      await send(endpoint, query, { 'x-api-key': publishable });
    }
    await send(endpoint, form('include'));
    await send(endpoint, form('include'), { 'x-api-key': publishable });
  }
});

test.each(endpoints.filter((one) => bodyNames(one).length > 0))(
  '$name answers every body field of any operation in every form',
  async (endpoint) => {
    const known = bodyNames(endpoint);
    const others = everyName.filter((name) => !known.includes(name));
    for (const [n, value] of values.entries()) {
      const unknown = Object.fromEntries(others.map((name) => [name, value]));
      const bodies = [...known.map((name) => ({ [name]: value })), unknown];
      // Forms and multipart bodies are parsed alike.
      for (const dialect of ['json', n % 2 === 0 ? 'form' : 'multipart'] as const)
        for (const body of bodies)
          await send(endpoint, '', { 'content-type': contentTypes[dialect] }, encodeBody(dialect, body));
    }
  },
);
