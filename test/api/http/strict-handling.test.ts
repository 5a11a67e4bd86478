import { describe, expect, test } from 'vitest';
import { withProfile } from '../../support/key-profiles.ts';
import { send, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, createProvider } = testApp;
const me = await createProvider();
const strict = { prefer: 'handling=strict' };
const applied = 'handling=strict';
const vary = 'Accept-Encoding, Accept-Language, X-API-Key';

describe('Prefer: handling=strict', () => {
  test('refuses unknown query parameters of a list, and does not read it', async () => {
    const { status, headers, text } = await me.get('/v2/courses?limt=1&limit=1&a%20b=1', strict);
    expect([status, text]).toEqual([400, '{"error":"Field(s) not known: limt,a?b"}']);
    expect(headers).toMatchObject({ 'x-error-code': 'field_unknown', 'preference-applied': applied });
    expect(headers['vary']).toBe(`${vary}, Prefer`);
    expect(headers).not.toHaveProperty('x-ignored-parameters');
    expect(headers).not.toHaveProperty('etag');
  });

  test('refuses unknown fields of a body, also those of members, and writes nothing', async () => {
    const me = await createProvider();
    const fields = { title: 'Strict', titel: 'x', tags: [{ title: 'A', titel: 'B' }] };
    const { status, text, headers } = await me.post('/v2/courses?limt=1', fields, strict);
    expect([status, text]).toEqual([400, '{"error":"Field(s) not known: limt,titel,tags[0].titel"}']);
    expect(headers).not.toHaveProperty('location');
    expect((await me.get('/v2/courses')).json()).toEqual([]);
  });

  test('takes what is known, as without it', async () => {
    const me = await createProvider();
    const id = 7;
    const created = await me.post('/v2/instructors', { firstname: 'Kari', lastname: 'Nordmann', id }, strict);
    expect([created.status, created.headers['preference-applied']]).toEqual([201, applied]);
    const item = created.json<{ id: number }>();
    expect((await me.put(`/v2/instructors/${item.id}`, item, strict)).status).toBe(200);
    const [list, plain] = [await me.get('/v2/instructors?limit=1', strict), await me.get('/v2/instructors?limit=1')];
    expect([list.status, list.text, list.headers['vary']]).toEqual([200, plain.text, `${vary}, Prefer`]);
    expect(plain.headers).not.toHaveProperty('preference-applied');
    expect(plain.headers['vary']).toBe(vary);
  });

  test('reports in the form of each endpoint, with the names as fields of problem details', async () => {
    const text = 'Field(s) not known: nam';
    const booking = await me.post('/v2/booking', { nam: 1 }, strict);
    const errors = [{ code: 'field_unknown', message: text }];
    expect(booking.json()).toEqual({ successful: false, errors, error: text });
    const admin = await me.post('/v2/admin-users', { nam: 1 }, strict);
    expect(admin.json()).toEqual({ errors: { missing_fields: [], not_valid: ['nam'] } });
    const details = await me.get('/v2/courses?nam=1', { ...strict, accept: 'application/problem+json' });
    expect(details.json()).toMatchObject({ code: 'field_unknown', fields: [{ field: 'nam', code: 'invalid' }] });
    const older = await me.get('/schools?nam=1', strict);
    expect([older.status, older.json()]).toEqual([400, { status: 'failure', error: text }]);
  });

  test('reads the first 1,000 characters of the header', async () => {
    const [short, long] = [900, 1_000].map((length) => `${'x'.repeat(length)}, handling=strict`);
    expect((await me.get('/v2/courses?nam=1', { prefer: short! })).status).toBe(400);
    expect((await me.get('/v2/courses?nam=1', { prefer: long! })).status).toBe(200);
  });

  test('leaves an unknown path as it is', async () => {
    const { status, headers } = await me.get('/v2/nothing?nam=1', strict);
    expect([status, headers['x-error-code'], headers['preference-applied']]).toEqual([
      404,
      'resource_not_found',
      undefined,
    ]);
  });

  test('names at most ten', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `p${n}`);
    const { text } = await me.get(`/v2/durations?${names.map((name) => `${name}=1`).join('&')}`, strict);
    expect(text).toBe(JSON.stringify({ error: `Field(s) not known: ${names.slice(0, 10).join(',')}` }));
    const long = await me.get(`/v2/durations?${'x'.repeat(5_000)}=1`, strict);
    expect(long.json<{ error: string }>().error).toHaveLength('Field(s) not known: '.length + 100);
  });

  test.each([
    ['handling=strict', true],
    ['Handling = STRICT', true],
    ['handling="strict"', true],
    ['respond-async, wait=10, handling=strict; of=it', true],
    ['x="a, handling=lenient", handling=strict', true],
    ['handling=lenient', false],
    ['handling=lenient, handling=strict', false],
    ['handling', false],
    ['x="a, handling=strict"', false],
    ['x; handling=strict', false],
    ['handling="strict', false],
    ['strict', false],
    ['', false],
  ])('%s: %s', async (prefer, isStrict) => {
    const { status, headers } = await me.get('/v2/courses?limt=1', { prefer });
    expect([status, headers['preference-applied']]).toEqual(isStrict ? [400, applied] : [200, undefined]);
    expect(headers['x-ignored-parameters']).toBe(isStrict ? undefined : 'limt');
  });

  test('works on a web page with a publishable key', async () => {
    const origin = 'https://www.school.example';
    const page = await withProfile(testApp, me, 'publishable', { origins: [origin] });
    const asked = (names: string) =>
      send(app, {
        method: 'OPTIONS',
        url: '/v2/courses',
        headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': names },
      });
    const allowed = 'X-API-Key, If-None-Match, X-Request-Id';
    expect((await asked('prefer,x-api-key')).headers['access-control-allow-headers']).toBe(`${allowed}, Prefer`);
    expect((await asked('x-api-key')).headers['access-control-allow-headers']).toBe(allowed);
    for (const [url, expected] of [
      ['/v2/courses', 200],
      ['/v2/courses?limt=1', 400],
    ] as const) {
      const { status, headers } = await page.get(url, { origin, ...strict });
      expect(status).toBe(expected);
      expect(String(headers['access-control-expose-headers']).split(', ')).toContain('Preference-Applied');
    }
    const plain = await page.get('/v2/courses', { origin });
    expect(String(plain.headers['access-control-expose-headers'])).not.toContain('Preference');
  });
});
