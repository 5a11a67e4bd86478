import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldErrors } from '../../support/request-bodies.ts';
import { getEndpoints, hasParameter, type Endpoint } from '../../support/isolation.ts';
import { runs } from '../../support/property-runs.ts';
import { parameterOf, type QueryParameter, type Parameter } from '../../support/query-parameters.ts';
import { createVariedData, timestampsFor } from '../../support/varied-data.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const school = await createVariedData(testApp);
const { me } = school;
for (const { id } of (await me.get('/v2/orders?limit=20')).json<{ id: number }[]>())
  await me.post(`/v2/orders/${id}/payments`, { amount: 0.01 });
const numRuns = runs(0.2);

const reads = getEndpoints(testApp).filter(({ method }) => method === 'GET');
// The change feed is not a list of items: its page follows a cursor.
const lists = reads.filter((endpoint) => hasParameter(endpoint, 'limit') && endpoint.path !== '/v2/changes');
/** Parameters that a list requires. */
const always: Record<string, string> = { '/v2/search-users': 'username', '/v2/batch/coursedates': 'course_ids' };
/** Items per page; 75 by default. */
const pages: Record<string, number> = {
  '/v2/search-users': 250,
  '/v2/nextcoursedates': 250,
  '/v2/batch/coursedates': 25,
};

const namesOf = ({ operation }: Endpoint) =>
  (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
const parametersOf = (endpoint: Endpoint) =>
  (endpoint.operation.parameters ?? [])
    .filter((one) => one.in === 'query')
    .map((one): [string, Parameter] => [one.name.replace('[]', ''), parameterOf(school, one)]);

/** True for the order in which `since_id` continues a list. */
const isById = (settings: QueryParameter[]) =>
  settings.every(
    ({ name, value }) => !(name === 'order_by' && value !== 'id') && !(name === 'order_direction' && value !== 'asc'),
  );

/** Arbitrary combinations of a list's parameters. */
function arbitraryQuery(endpoint: Endpoint) {
  const parameters = parametersOf(endpoint);
  // A course's own sub-lists contain no partners' items.
  const isApplicable = (name: string) => name !== 'partner_id' || !endpoint.path.includes('{');
  const arbitraryParameters = (role: Parameter['role'], max: number) => {
    const those = parameters.filter(([name, parameter]) => parameter.role === role && isApplicable(name));
    const needed = those.filter(([name]) => name === always[endpoint.path]);
    return fc
      .subarray(those, { maxLength: Math.min(max, those.length) })
      .chain((chosen) => fc.tuple(...[...new Set([...needed, ...chosen])].map(([, { good }]) => good)));
  };
  const query = fc.record({
    filters: arbitraryParameters('filter', 3),
    settings: arbitraryParameters('setting', 3),
    paging: arbitraryParameters('paging', 3),
    include: arbitraryParameters('include', 1),
  });
  return query.map(({ filters, ...others }) => ({
    ...others,
    filters: filters.filter(({ name }) => name !== 'since_id' || isById(others.settings)),
  }));
}
type ListQuery = {
  filters: QueryParameter[];
  settings: QueryParameter[];
  paging: QueryParameter[];
  include: QueryParameter[];
};

type Item = Record<string, any>;
/** A mail has the id of its date besides its own. */
const idOf = (item: Item): number => (item['purpose'] ? item['id'] : (item['coursedate_id'] ?? item['id']));

function expectSchemaOf({ operation }: Endpoint) {
  type Responses = Record<string, { content: Record<string, { schema: object }> }>;
  const { responses } = operation as unknown as { responses: Responses };
  const ajv = formats.default(new Ajv2020({ strict: false }));
  const validate = ajv.compile(responses['200']!.content['application/json']!.schema);
  return (body: unknown, query: string) =>
    expect(validate(body), `${query} ${JSON.stringify(validate.errors)}`).toBe(true);
}

const startsWith = (text: string | null, word: unknown) =>
  text?.toLowerCase().startsWith(String(word).toLowerCase()) === true;

/** Returns true if a filter matches the item, the nth of its list by id; undefined if the item does not show it. */
function keeps(
  { name, value }: QueryParameter,
  settings: QueryParameter[],
  item: Item,
  n: number,
): boolean | undefined {
  const [, stampName, end] = /^(created_at|updated_at|exported_at|paid_at)_(min|max)$/.exec(name) ?? [];
  if (stampName !== undefined) {
    // Not every item shows it, and instructors do without an offset.
    const hasOffset = String(item[stampName]).includes('T');
    const at = hasOffset ? Date.parse(String(item[stampName])) : timestampsFor(n)[stampName as 'created_at'];
    return end === 'min' ? at >= Number(value) : at < Number(value);
  }
  const { course, coursedate, user, seats, tags } = item;
  switch (name) {
    case 'since_id':
      return idOf(item) > Number(value);
    case 'coursedate_id':
      // An order does not show it.
      return item['lines'] ? undefined : (coursedate?.id ?? item['coursedate_id']) === value;
    case 'course_id':
      if (Array.isArray(value)) return value.includes(item['course_id']);
      return user ? course.id === value : undefined;
    case 'customer_id':
      return user ? user.customer?.id === value : undefined;
    case 'user_id':
      return user.id === value;
    case 'status_id':
      return Array.isArray(value) ? value.includes(item['status'].id) : item['status_id'] === value;
    case 'has_participants':
      return Number(seats.booking_status.num) + Number(seats.booking_status.num_waiting) > 0 === value;
    case 'tag_ids': {
      if (!tags) return undefined;
      const isOn = (id: number) => tags.some((tag: { id: number }) => tag.id === id);
      const all = settings.some((one) => one.name === 'tag_match' && one.value === 'all');
      return all ? (value as number[]).every(isOn) : (value as number[]).some(isOn);
    }
    case 'purpose':
    case 'state':
      return item[name] === value;
    case 'code':
    case 'email':
    case 'recipient':
      return String(item[name]).toLowerCase() === String(value).trim().toLowerCase();
    case 'firstname':
    case 'lastname':
      return startsWith(item[name], value);
    default:
      return undefined;
  }
}

describe.each(lists)('$name', (endpoint) => {
  const [owner] = endpoint.path.startsWith('/v2/customers/') ? school.ids.customers : school.ids.courses;
  const url = endpoint.path.replaceAll(/\{\w+\}/g, String(owner));
  const expectSchema = expectSchemaOf(endpoint);
  const queryOf = (query: QueryParameter[]) => query.map(({ text }) => text).join('&');
  async function request(...parameters: QueryParameter[]) {
    const query = queryOf(parameters);
    const response = await me.get(`${url}?${query}`);
    expect(response.status, `${query} ${response.text}`).toBe(200);
    expect(response.headers).not.toHaveProperty('x-ignored-parameters');
    const body = response.json<Item[] | { items: Item[]; pagination: { total_items: number } }>();
    expectSchema(body, query);
    return { body, query, items: Array.isArray(body) ? body : body.items };
  }
  const whole: QueryParameter = { name: 'limit', text: 'limit=250', value: 250 };
  const exported: QueryParameter = { name: 'exported', text: 'exported=1', value: true };

  test('combined filters give the intersection, pages are slices, and responses match the schema', async () => {
    let itemCount = 0;
    const check = async ({ filters, settings: otherSettings, paging, include }: ListQuery) => {
      const shows = ({ name, value }: QueryParameter) =>
        name.startsWith('exported_at') || (name === 'uncredited' && value);
      const implied = filters.some(shows) ? [exported] : [];
      const settings = otherSettings.filter(({ name }) => implied.length === 0 || name !== 'exported').concat(implied);

      const unfiltered = (await request(...settings, whole)).items;
      const byId = unfiltered.map(idOf).sort((a, b) => a - b);
      let remaining = unfiltered.map(idOf);
      for (const filter of filters) {
        const alone = (await request(...settings, filter, whole)).items.map(idOf);
        const existing = unfiltered.filter(
          (item) => keeps(filter, settings, item, byId.indexOf(idOf(item)) + 1) ?? alone.includes(idOf(item)),
        );
        expect(alone, filter.text).toEqual(existing.map(idOf));
        remaining = remaining.filter((id) => alone.includes(id));
      }

      const { body, query, items } = await request(...settings, ...filters, ...paging, ...include);
      const number = (name: string, fallback: number) =>
        Number(paging.find((one) => one.name === name)?.value ?? fallback);
      const [limit, page] = [Math.min(number('limit', pages[url] ?? 75), 250), number('page', 1)];
      expect(items.map(idOf), query).toEqual(remaining.slice((page - 1) * limit, page * limit));
      if (!Array.isArray(body)) expect(body.pagination.total_items).toBe(remaining.length);
      const embedded = include.flatMap(({ value }) => value as string[]).map((path) => path.split('.')[0]!);
      for (const item of items) expect(Object.keys(item), query).toEqual(expect.arrayContaining(embedded));
      itemCount += items.length;
    };
    await fc.assert(fc.asyncProperty(arbitraryQuery(endpoint), check), { numRuns });
    expect(itemCount).toBeGreaterThan(numRuns / 4);
  });

  test('invalid parameters are named', async () => {
    const parameters = parametersOf(endpoint);
    const bad = fc
      .subarray(parameters, { minLength: 1, maxLength: Math.min(3, parameters.length) })
      .chain((chosen) =>
        fc.tuple(...chosen.map(([name, { bad }]) => fc.constantFrom(...bad).map((text) => ({ name, text })))),
      );
    const refused = async (wrong: { name: string; text: string }[], right: QueryParameter[] = []) => {
      const query = [...right, ...wrong].map(({ text }) => text).join('&');
      const response = await me.get(`${url}?${query}`);
      expect(response.status, query).toBe(400);
      const notValid = parameters.map(([name]) => name).filter((name) => wrong.some((one) => one.name === name));
      expect(fieldErrors(response), query).toEqual({ missing: [], notValid });
    };
    const needed = parameters.filter(([name]) => name === always[endpoint.path]);
    for (const [name, { bad }] of parameters) {
      const right = needed.filter(([other]) => other !== name).flatMap(([, { good }]) => fc.sample(good, 1));
      for (const text of bad) await refused([{ name, text }], right);
    }

    const check = async (wrong: { name: string; text: string }[], listQuery: ListQuery) => {
      const isRight = ({ name }: QueryParameter) => wrong.every((one) => one.name !== name);
      await refused(wrong, Object.values(listQuery).flat().filter(isRight));
    };
    await fc.assert(fc.asyncProperty(bad, arbitraryQuery(endpoint), check), { numRuns: runs(0.4) });
  });
});

/** `GET /v2/whoami` has the server's time. */
const withoutTime = (text: string) => text.replace(/"server_time":"[^"]+"/, '');

const withoutParameters = reads.filter((endpoint) => namesOf(endpoint).length === 0 && !endpoint.path.includes('{'));
test.each(withoutParameters)('$name ignores unknown parameters and names them', async (endpoint) => {
  const plain = await me.get(endpoint.path);
  expectSchemaOf(endpoint)(plain.json(), '');
  const names = fc.uniqueArray(fc.constantFrom('limit', 'page', 'since_id', 'include[]', 'x-y', 'created_at_min'), {
    minLength: 1,
  });
  const check = async (unknownNames: string[], value: string) => {
    const query = unknownNames.map((name) => `${name}=${encodeURIComponent(value)}`).join('&');
    const response = await me.get(`${endpoint.path}?${query}`);
    expect([response.status, withoutTime(response.text)]).toEqual([200, withoutTime(plain.text)]);
    expect(response.headers['x-ignored-parameters']).toBe(
      unknownNames.map((name) => name.replace('[]', '')).join(', '),
    );
  };
  await fc.assert(fc.asyncProperty(names, fc.constantFrom('0', '1', 'x', '\0', '2026-02-30'), check), { numRuns });
});
