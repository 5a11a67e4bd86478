import { afterAll, describe, expect, test } from 'vitest';
import * as support from '../../support/isolation.ts';
import { isServed } from '../../support/plugin-list.ts';
import * as table from '../../support/isolation-table.ts';
import { isOpenTo } from '../../support/member-access.ts';
import { createIds, fillIds } from '../../support/path-items.ts';
import { send, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { containsText, marker, markedPaths, readRequests } = support;

const testApp = await sharedTestApp();
const { app, createProvider } = testApp;
const { me, ids } = await support.createOwner(testApp);
const endpoints = support.getEndpoints(testApp);
const reads = endpoints.filter(({ method }) => method === 'GET');
const writes = endpoints.filter(({ method }) => method !== 'GET');

const actors = await support.createActors(testApp, me);
const invalidKeys = await support.createInvalidKeys(testApp, me);

let cells = 0;
afterAll(() => expect(cells).toBeGreaterThan(0));

const leaksIn = (text: string) =>
  [marker, support.passwordHash, String(support.secretNumber)].filter((secret) => containsText(text, secret));
const endpointOf = (route: string) => endpoints.find(({ name }) => name === route)!;

test('the table has every endpoint', () => {
  const routes = (list: { route: string }[]) => list.map(({ route }) => route).sort();
  const names = (list: { name: string }[]) => list.map(({ name }) => name).sort();
  expect(routes(table.readTable)).toEqual(names(reads));
  expect(routes(table.writeTable)).toEqual(names(writes));
});

describe.each(table.readTable)('$route', ({ route, owner, stranger, partner }) => {
  const requests = readRequests(endpointOf(route), ids);

  test('shows the owner its own data', async () => {
    for (const { url, include } of requests.filter((request) => request.include !== undefined)) {
      cells += 1;
      const response = await me.get(url);
      expect(response.status, url).toBe(200);
      const paths = markedPaths(response.text);
      expect(paths.length > 0, url).toBe(owner === 'own data');
      if (include)
        expect(
          paths.some((path) => `${path}.`.startsWith(`${include}.`)),
          url,
        ).toBe(!(include in table.includesWithoutText || `${route} ${include}` in table.includesWithoutText));
      expect(containsText(response.text, support.passwordHash)).toBe(false);
    }
  });

  test('shows others nothing of the owner', async () => {
    const leaks: string[] = [];
    for (const [actorName, actor] of Object.entries(actors)) {
      for (const { url, partnerQuery } of requests) {
        if (actorName === 'partner' && partnerQuery !== '') continue;
        cells += 1;
        const { status, text } = await actor.get(url);
        if (leaksIn(text).length > 0 || status >= 500) leaks.push(`${actorName} ${url} ${status}`);
        if (
          owner === 'own data' &&
          partnerQuery === '' &&
          !(route in table.sharedItems) &&
          support.listedIn(text).length > 0
        )
          leaks.push(`${actorName} ${url} has items`);
        if (partnerQuery === '') expect(status, `${actorName} ${url}`).toBe(stranger);
      }
    }
    expect(leaks).toEqual([]);
  });

  test('shows an approved partner exactly the open members', async () => {
    const own = new Set<string>();
    for (const { url } of requests.filter(({ partnerQuery }) => partnerQuery === ''))
      for (const path of markedPaths((await me.get(url)).text)) own.add(path);
    const open = [...own].filter((path) => partner && isOpenTo('partner', partner, path.split('.')));
    expect(open.length > 0).toBe(partner !== undefined);
    expect(open.length).toBeLessThan(own.size || 1);
    const shown = new Set<string>();
    for (const { url } of requests.filter(({ partnerQuery }) => partnerQuery !== '')) {
      cells += 1;
      const { status, text } = await actors.partner.get(url);
      const leaks = leaksIn(text).filter((secret) => secret !== marker);
      expect([status, containsText(text, support.unlistedMarker), leaks], url).toEqual([200, false, []]);
      for (const path of markedPaths(text)) shown.add(path);
    }
    expect([...shown].sort()).toEqual(open.sort());
  });
});

const spreadsheets = reads.filter((endpoint) => support.hasParameter(endpoint, 'format') && !/\{/.test(endpoint.path));
test.each(spreadsheets)(
  '$name as CSV shows the owner its data, others none, partners open members',
  async (endpoint) => {
    const requests = readRequests(endpoint, ids).map((request) => ({ ...request, url: `${request.url}&format=csv` }));
    const rowsIn = (text: string) => text.split('\r\n').length - 2;
    const leaks: string[] = [];
    for (const { url, partnerQuery } of requests) {
      if (partnerQuery === '') expect((await me.get(url)).text, url).toContain(marker);
      for (const [actorName, actor] of Object.entries(actors)) {
        cells += 1;
        const { status, text } = await actor.get(url);
        const isPartner = actorName === 'partner' && partnerQuery !== '';
        const found = leaksIn(text).filter((secret) => !isPartner || secret !== marker);
        if (found.length > 0 || containsText(text, support.unlistedMarker)) leaks.push(`${actorName} ${url}`);
        if (partnerQuery === '') expect([status, rowsIn(text)], `${actorName} ${url}`).toEqual([200, 0]);
        if (isPartner) expect(text, url).toContain(marker);
      }
    }
    expect(spreadsheets.length).toBeGreaterThan(3);
    expect(leaks).toEqual([]);
  },
);

test.each(invalidKeys)('%s gets 401 on every endpoint', async (_, headers) => {
  for (const { name, method, path } of endpoints) {
    const bodies = table.writeTable.find(({ route }) => route === name)?.bodies(ids) ?? [undefined];
    for (const payload of bodies) {
      cells += 1;
      const url = support.fillPath(path, ids);
      const response = await send(app, { method, url, headers, ...(payload && { payload }) });
      expect([response.status, leaksIn(response.text)], name).toEqual([401, []]);
    }
  }
});

const parameters = endpoints.flatMap((endpoint) =>
  support.idParameters(endpoint).map((parameter) => {
    const named = table.findIdParameter(endpoint.name, parameter);
    return { endpoint, parameter, key: `${endpoint.name} ${parameter}`, named };
  }),
);

test('the table has every parameter that names a row', () => {
  const unnamed = parameters.filter(({ named }) => named === undefined).map(({ key }) => key);
  expect(unnamed, 'name them in idTable of test/support/isolation-table.ts').toEqual([]);
  const named = Object.keys(table.idTable).filter((route) => isServed({ route }));
  expect(named.filter((key) => !parameters.some((one) => one.key === key))).toEqual([]);
});

test.each(parameters.filter(({ named }) => typeof named === 'object'))(
  '$key: a foreign id and an unknown id get the same response',
  async ({ endpoint: { name, method, path, operation }, parameter, named }) => {
    const [id, body] = named as Exclude<table.IdParameter, string>;
    const [where, field] = parameter.split(' ') as [string, string];
    const required = table.requiredQuery(ids)[name];
    const request = async (actor: Provider, value: number, partners = '') => {
      cells += 1;
      const ownPath = await fillOwnPath(actor, path, where === 'path' ? { [field]: value } : {});
      const query = [
        where === 'query' ? `${field}=${value}` : '',
        field.startsWith('course_ids') ? undefined : required,
        partners,
      ];
      const { status, text } = await actor.request(method)(
        `${ownPath}?${query.filter(Boolean).join('&')}`,
        body?.(value, ids),
      );
      // The id that was sent.
      return [status, text.replaceAll(`"participant_id":${value}`, '"participant_id":0')];
    };
    const ownId = support.idOfKind(ids, id);
    const unknown = 999_999_999;
    const partners = operation.parameters?.some((one) => one.name === 'include_partners') ? 'include_partners=1' : '';
    // since_id compares with the caller's own rows too: only a provider without rows gets equal responses.
    const callers = field === 'since_id' ? { empty: await createProvider() } : actors;
    for (const [actorName, actor] of Object.entries(callers)) {
      const isPartner = actorName === 'partner';
      if (isPartner && field === 'partner_id') continue;
      for (const query of new Set(isPartner && !field.startsWith('tag_') ? [''] : ['', partners]))
        expect(await request(actor, ownId, query), actorName).toEqual(await request(actor, unknown, query));
    }
    // Control: the owner gets different responses.
    if (field !== 'since_id') expect(await request(me, ownId)).not.toEqual(await request(me, unknown));
  },
);

/** The path with ids of the actor's own rows, except for the overrides. */
async function fillOwnPath(actor: Provider, path: string, overrides: Record<string, number>) {
  const kinds = Object.entries(support.idsInPath(path));
  const isWhole = kinds.every(([name]) => name in overrides);
  const ownIds = async () =>
    actor === me
      ? Object.fromEntries(kinds.map(([name, kind]) => [name, support.idOfKind(ids, kind)]))
      : createOnce(actor, path);
  return fillIds(path.replace('{code}', marker), { ...(isWhole ? {} : await ownIds()), ...overrides });
}

const created = new Map<string, Promise<Record<string, number>>>();
function createOnce(actor: Provider, path: string) {
  const key = `${actor.id} ${path}`;
  const found = created.get(key) ?? createIds(actor, path);
  created.set(key, found);
  return found;
}

const readRows = () => support.dumpRows(testApp, me.id);
async function readResponses() {
  const requests = reads
    .flatMap((endpoint) => readRequests(endpoint, ids))
    // The time of the server changes.
    .filter(({ url, partnerQuery }) => partnerQuery === '' && !url.startsWith('/v2/whoami'));
  return Promise.all(requests.map(async ({ url }) => [url, (await me.get(url)).text]));
}

/** The owner's data before the first write of another provider; none of them may change it. */
let before: Promise<[rows: unknown, responses: unknown]> | undefined;
const readBefore = () => (before ??= Promise.all([readRows(), readResponses()]));
test.each(Object.entries(actors))('writes of %s change nothing and reveal nothing', async (actorName, actor) => {
  const [rows] = await readBefore();
  for (const { route, bodies, stranger, subSchool = stranger } of table.writeTable) {
    const statuses = actorName === 'subSchool' ? subSchool : stranger;
    const { method, path } = endpointOf(route);
    for (const [n, body] of bodies(ids).entries()) {
      cells += 1;
      const { status, text } = await actor.request(method)(support.fillPath(path, ids), body);
      const shown = markedPaths(text).filter((path) => !table.shownAfterWrite[route]?.includes(path));
      expect([shown, status], `${actorName} ${route} ${n}`).toEqual([[], statuses[n]]);
    }
  }
  const attached = markedPaths((await actor.get('/v2/admin-users')).text);
  expect(attached, actorName).toEqual(table.shownAfterWrite['POST /v2/admin-users']);
  expect(await readRows(), actorName).toEqual(rows);
});

test('after these writes the owner gets the same responses', async () => {
  const [, responses] = await readBefore();
  expect(await readResponses()).toEqual(responses);
});
