import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { getEndpoints, includeNames } from '../../support/isolation.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { runs } from '../../support/property-runs.ts';
import {
  createPublicCatalog,
  foreignMembers,
  publicResponses,
  revealsSecret,
  secret,
} from '../../support/public-catalog.ts';
import { parameterOf } from '../../support/query-parameters.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { me, ids } = await createPublicCatalog(testApp);
const foreign = await createPublicCatalog(testApp);
const key = await withProfile(testApp, me, 'publishable', { origins: ['https://a.example'] });

const pool = (own: number[], other: number[]) =>
  fc.constantFrom(...own, ...own, ...other.slice(0, 2), 999_999_999, 0, 'x', '%00');
const pathIds = {
  course: pool(ids.courses, foreign.ids.courses),
  date: pool(ids.dates, foreign.ids.dates),
  instructor: pool(ids.instructors, foreign.ids.instructors),
  other: pool([...ids.customers, ...ids.users], foreign.ids.customers),
};
const kindOf = (path: string) =>
  path.includes('coursedates')
    ? 'date'
    : path.includes('/courses')
      ? 'course'
      : path.includes('instructors')
        ? 'instructor'
        : 'other';

const headers = fc.record(
  {
    'accept-language': fc.constantFrom('no', 'en', 'nb, en;q=0.5', 'x'),
    origin: fc.constantFrom(...Array.from({ length: 5 }, () => 'https://a.example'), 'https://b.example'),
    'if-none-match': fc.constantFrom('*', 'W/"x"'),
  },
  { requiredKeys: [] },
);

/** A request of an endpoint with any of its parameters and includes, public or not. */
const requests = getEndpoints(testApp)
  .filter(({ method }) => method === 'GET')
  .map((endpoint) => {
    const parameters = (endpoint.operation.parameters ?? []).filter((one) => one.in === 'query');
    const names = parameters.map(({ name }) => name);
    const known = parameters
      .filter(({ name }) => name !== 'include[]')
      .map((one) => parameterOf({ ids }, one).good.map(({ text }) => text));
    const flags = names.flatMap((name) => (/\[\]$/.test(name) ? [] : [fc.constantFrom(`${name}=1`, `${name}[]=true`)]));
    const anyParameter = fc.oneof(fc.constant('unknown=1'), ...known, ...flags);
    const includes = includeNames(endpoint);
    const include =
      includes.length === 0
        ? fc.constant('')
        : fc.oneof(
            { weight: 3, arbitrary: fc.constant('') },
            {
              weight: 2,
              arbitrary: fc
                .subarray(includes, { maxLength: Math.min(3, includes.length) })
                .map((some) => some.map((name) => `include[]=${name}`).join('&')),
            },
          );
    const required = endpoint.path.includes('batch')
      ? fc.constant(`course_ids=${ids.courses.join(',')}`)
      : fc.constant('');
    return fc
      .record({
        ...{ courseId: pathIds.course, id: pathIds[kindOf(endpoint.path)], include, required, headers },
        query: fc.array(anyParameter, { maxLength: 2 }),
      })
      .map(({ courseId, id, include, required, query, headers }) => {
        const path = endpoint.path.replace('{course_id}', String(courseId)).replace('{id}', String(id));
        const url = `${path.replace('{code}', secret)}?${[required, include, ...query].filter(Boolean).join('&')}`;
        return { name: endpoint.name, url, headers };
      });
  });

const weight = (n: number) => (n < Object.keys(publicResponses).length ? 8 : 1);
const [open, closed] = [true, false].map((isOpen) =>
  requests.filter((_, n) => {
    const { name } = getEndpoints(testApp).filter(({ method }) => method === 'GET')[n]!;
    return name in publicResponses === isOpen;
  }),
) as [typeof requests, typeof requests];
const anyRequest = fc.oneof(...[...open, ...closed].map((arbitrary, n) => ({ arbitrary, weight: weight(n) })));

const counts = new Map<number, number>();
/** 20,000 with PROPERTY_RUNS=400, see docs/explain/reliability.md. */
const numRuns = runs(50);
afterAll(() => {
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  console.log(`${total} requests with a publishable key: ${JSON.stringify(Object.fromEntries(counts))}`);
});

/** The members and texts of a response that a publishable key may not see. */
function findLeaks(name: string, { status, text }: { status: number; text: string }) {
  const members = status === 200 ? foreignMembers(name, text) : [];
  return [...members, ...(revealsSecret(text) && !text.includes(`validate/${secret}`) ? ['the secret'] : [])];
}

test('no request with a publishable key shows anything that is not public', async () => {
  const property = fc.asyncProperty(anyRequest, async ({ name, url, headers }) => {
    const response = await key.get(url, headers);
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    expect([200, 304, 400, 403, 404], url).toContain(response.status);
    expect(findLeaks(name, response), url).toEqual([]);
  });
  await fc.assert(property, { numRuns });
  expect([...counts.values()].reduce((a, b) => a + b, 0)).toBe(numRuns);
  expect((counts.get(200) ?? 0) / numRuns).toBeGreaterThan(0.2);
}, 600_000);

test('the same requests with a full key show much that is not (negative control)', async () => {
  let leaking = 0;
  const property = fc.asyncProperty(anyRequest, async ({ name, url }) => {
    leaking += findLeaks(name, await me.get(url)).length > 0 ? 1 : 0;
  });
  await fc.assert(property, { numRuns: 200 });
  expect(leaking).toBeGreaterThan(50);
});
