import fc from 'fast-check';
import { expect, inject, onTestFinished, test } from 'vitest';
import { acts, type Act } from '../../support/acts.ts';
import { contentTypeHeader, dialects, encodeBody, type Dialect, type Fields } from '../../support/dialects.ts';
import { getEndpoints, type Endpoint } from '../../support/isolation.ts';
import { runs } from '../../support/property-runs.ts';
import { hashRows } from '../../support/request-bodies.ts';
import { openTestApp, openTestDatabase, sharedTestApp, type Provider } from '../../support/test-app.ts';
import { loadUnguarded } from '../../support/unguarded.ts';

const testApp = await sharedTestApp();
const endpoints = getEndpoints(testApp);

/** Every name that an operation documents, at any depth. */
function documentedNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(documentedNames)];
}

const misspelt = (name: string) => [
  ...[name.replace(/s$/, ''), `${name}s`, name.slice(1), name.slice(0, -1)],
  ...[
    name.replaceAll('_', ''),
    name.toUpperCase(),
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  ],
];
/** Names of other operations, and natural guesses. */
const guesses = [
  ...['id', 'created_at', 'updated_at', 'deleted_at'],
  ...['participant_ids', 'amount', 'sum', 'value', 'dryrun', 'dry-run', 'dry_run', 'test', 'send_email', 'notify'],
  ...['participants', 'line_id', 'quantity', 'reason', 'message', 'force', 'price', 'beløp', 'with space', 'into'],
];

function unknownNames({ operation }: Endpoint) {
  const known = new Set([
    ...documentedNames(operation.requestBody?.content['application/json']?.schema),
    ...(operation.parameters ?? []).flatMap((one) => (one.in === 'path' ? [] : one.name)),
  ]);
  const names = [...[...known].flatMap(misspelt), ...guesses];
  return [...new Set(names)].filter((name) => name !== '' && !known.has(name));
}

type Place = 'query' | 'body' | 'member';
type Sent = { name: string; value: unknown; place: Place; dialect: Dialect };

const sentTo = (endpoint: Endpoint): fc.Arbitrary<Sent> =>
  fc.record({
    name: fc.constantFrom(...unknownNames(endpoint)),
    value: fc.constantFrom<unknown>(1, 0, '', 'x', '2026-01-01', true, [311], { id: 311 }),
    place: fc.constantFrom<Place>('body', 'body', 'query', 'member'),
    dialect: fc.constantFrom(...dialects),
  });

type Target = { method: 'POST' | 'PUT'; path: string; body: Fields };

/** The valid request with one more name; `path` is that by which the answer names it. */
async function sendWith(me: Provider, { method, path, body }: Target, { name, value, place, dialect }: Sent) {
  const [list] = Object.entries(body).filter(([, one]) => Array.isArray(one) && typeof one[0] === 'object');
  const isMember = place === 'member' && list !== undefined;
  const query = place === 'query' ? `?${encodeURIComponent(name)}=1` : '';
  const [first, ...rest] = isMember ? (list[1] as Fields[]) : [];
  const more = isMember ? { [list[0]]: [{ ...first, [name]: value }, ...rest] } : { [name]: value };
  const sent = query === '' ? { ...body, ...more } : body;
  const response = await me.request(method)(path + query, encodeBody(dialect, sent), contentTypeHeader(dialect));
  const shown = name.replace(/[^A-Za-z0-9_.[\]-]/g, '?');
  return { response, named: isMember ? `${list[0]}[0].${shown}` : shown };
}

const prepare = async ({ route, prepare }: Act, me: Provider): Promise<Target> => ({
  method: route.split(' ')[0] as Target['method'],
  ...(await prepare(me)),
});

test.each(acts)('$route refuses an unknown name, and changes nothing', async (act) => {
  const me = await testApp.createProvider();
  const target = await prepare(act, me);
  const before = await hashRows(me);
  const check = async (sent: Sent) => {
    const { response, named } = await sendWith(me, target, sent);
    expect([response.status, response.headers['x-error-code']], response.text).toEqual([400, 'field_unknown']);
    expect(response.text).toContain(`Field(s) not known: ${named}"`);
    expect(await hashRows(me)).toBe(before);
  };
  const endpoint = endpoints.find(({ name }) => name === act.route)!;
  await fc.assert(fc.asyncProperty(sentTo(endpoint), check), { numRuns: runs() });

  const { method, path, body } = target;
  const done = await me.request(method)(path, encodeBody('form', body), contentTypeHeader('form'));
  expect(done.status, done.text).toBeLessThan(300);
  expect(await hashRows(me)).not.toBe(before);
});

test('without the guard each act ignores the name, and is done', async () => {
  const { buildApp, openDatabase } = await loadUnguarded(['unknownNames']);
  const unguarded = await openTestApp(openTestDatabase(inject('shared'), {}, openDatabase), {}, buildApp);
  onTestFinished(unguarded.close);
  const me = await unguarded.createProvider();
  for (const act of acts) {
    const target = await prepare(act, me);
    const before = await hashRows(me);
    const sent = { name: 'participant_ids', value: [311], place: 'body', dialect: 'json' } as const;
    const { response } = await sendWith(me, target, sent);
    expect([response.status < 300, response.headers['x-ignored-parameters']], act.route).toEqual([true, sent.name]);
    expect(await hashRows(me), act.route).not.toBe(before);
  }
});
