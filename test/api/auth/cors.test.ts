import { describe, expect, test } from 'vitest';
import { keyProfiles } from '../../../src/core/api-key.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { limits, openTestApp, openTestDatabase, ownDatabase, send, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, createProvider } = testApp;
const me = await createProvider();
const origin = 'https://www.school.example';
const other = 'https://other.example';
const key = await withProfile(testApp, me, 'publishable', { origins: [origin, 'http://localhost:8080'] });
const vary = 'Accept-Encoding, Accept-Language, X-API-Key';

const corsHeaders = (headers: Record<string, unknown>) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const preflight = (url: string, method = 'GET', more: Record<string, string> = {}) =>
  send(app, {
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'x-api-key',
      ...more,
    },
  });

describe('a preflight', () => {
  test('is answered without a key, for any origin, on paths that a publishable key may read', async () => {
    for (const url of ['/v2/courses', '/v2/courses/1', '/v2/courses/1/coursedates', '/v2/schools', '/v2/whoami']) {
      const { status, headers, text } = await preflight(url);
      expect([status, text], url).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': 'X-API-Key, If-None-Match, X-Request-Id',
        'access-control-max-age': '7200',
        vary: `${vary}, Origin`,
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
    expect((await preflight('/v2/courses', 'HEAD')).status).toBe(204);
    expect((await preflight('/v2/courses', 'GET', { origin: other })).headers).toMatchObject({
      'access-control-allow-origin': other,
    });
  });

  test('for a write, another path or another interface is refused as before', async () => {
    const calls: [string, string, number][] = [
      ['/v2/courses', 'POST', 405],
      ['/v2/courses', 'DELETE', 405],
      ['/v2/orders', 'GET', 405],
      ['/v2/booking', 'POST', 405],
      ['/v2/participants/1', 'GET', 405],
      ['/schools', 'GET', 405],
      ['/v2/nothing', 'GET', 404],
    ];
    for (const [url, method, expected] of calls) {
      const { status, headers } = await preflight(url, method);
      expect([status, corsHeaders(headers)], `${method} ${url}`).toEqual([expected, []]);
    }
  });

  test('with an empty origin is refused as before', async () => {
    expect((await preflight('/v2/courses', 'GET', { origin: '' })).status).toBe(405);
  });

  test('OPTIONS without its headers is refused as before', async () => {
    const plain = await send(app, { method: 'OPTIONS', url: '/v2/courses', headers: { origin } });
    expect([plain.status, plain.headers['allow'], plain.headers['vary']]).toEqual([405, 'GET, HEAD, POST', vary]);
    expect(plain.json()).toEqual({ error: 'This path takes GET, HEAD, POST' });
  });
});

describe('a request with a publishable key', () => {
  test('from one of its origins can be read, errors too', async () => {
    for (const [url, expected] of [
      ['/v2/courses', 200],
      ['/v2/courses/999999999', 404],
      ['/v2/orders', 403],
      ['/v2/courses?limit=x', 400],
    ] as const) {
      const { status, headers } = await key.get(url, { origin });
      expect(status, url).toBe(expected);
      expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: `${vary}, Origin` });
      expect(headers['access-control-expose-headers']).toBe(
        'ETag, Link, Retry-After, X-Updated-Through, X-Page-Truncated, X-Ignored-Parameters, X-Request-Id, ' +
          'RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ' +
          'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset' +
          (expected === 200 ? '' : ', X-Error-Code'),
      );
    }
  });

  test('its ETag works across origins', async () => {
    const first = await key.get('/v2/courses', { origin });
    const again = await key.get('/v2/courses', {
      origin: 'http://localhost:8080',
      'if-none-match': String(first.headers['etag']),
    });
    expect([again.status, again.headers['access-control-allow-origin']]).toEqual([304, 'http://localhost:8080']);
  });

  test.each([other, 'null', `${origin}.evil.example`, `${origin}:444`, 'http://www.school.example', `${origin}/`])(
    'from %s is 403 without CORS headers',
    async (foreign) => {
      const { status, headers, text } = await key.get('/v2/courses', { origin: foreign });
      expect([status, JSON.parse(text)]).toEqual([403, { error: 'The key may not be used from this origin' }]);
      expect(corsHeaders(headers)).toEqual([]);
      expect(headers['vary']).toBe(`${vary}, Origin`);
    },
  );

  test('without an origin works, and without origins no web page may use it', async () => {
    const { status, headers } = await key.get('/v2/courses');
    expect([status, corsHeaders(headers), headers['vary']]).toEqual([200, [], `${vary}, Origin`]);
    const none = await withProfile(testApp, me, 'publishable');
    expect((await none.get('/v2/courses')).status).toBe(200);
    expect((await none.get('/v2/courses', { origin })).status).toBe(403);
  });

  test('from another origin counts for no rate limit', async () => {
    const limited = await openTestApp(openTestDatabase(await ownDatabase()), {
      limits: { ...limits, rate: { perSecond: 0.001, burst: 8 }, publishablePerAddress: 1 },
    });
    try {
      const theirs = await withProfile(limited, await limited.createProvider(), 'publishable', { origins: [origin] });
      const statuses = [];
      for (let n = 0; n < 5; n += 1) statuses.push((await theirs.get('/v2/courses', { origin: other })).status);
      for (let n = 0; n < 2; n += 1) statuses.push((await theirs.get('/v2/courses', { origin })).status);
      expect(statuses).toEqual([403, 403, 403, 403, 403, 200, 200]);
    } finally {
      await limited.close();
    }
  });

  test('of one address uses up its own limit, not that of the school, nor that of other keys', async () => {
    const limited = await openTestApp(openTestDatabase(await ownDatabase()), {
      trustProxy: ['127.0.0.1'],
      limits: { ...limits, rate: { perSecond: 0.001, burst: 20 }, publishablePerAddress: 2 },
    });
    try {
      const school = await limited.createProvider();
      const theirs = await withProfile(limited, school, 'publishable', { origins: [origin] });
      const from = async (address: string, count: number, { get }: Pick<typeof theirs, 'get'> = theirs) => {
        const seen = [];
        for (let n = 0; n < count; n += 1) seen.push(await get('/v2/courses', { 'x-forwarded-for': address }));
        return seen.map(({ status }) => status);
      };
      const ofOne = await Promise.all(Array.from({ length: 30 }, async () => from('203.0.113.1', 1)));
      expect(ofOne.flat()).toContain(429);
      expect(await from('203.0.113.2', 4)).toEqual([200, 200, 200, 200]);
      // Keys of servers have no limit by address.
      expect(await from('203.0.113.1', 10, school)).toEqual(Array(10).fill(200));
    } finally {
      await limited.close();
    }
  });

  test('of one address uses up a quarter of the limit of a school at most', async () => {
    const limited = await openTestApp(openTestDatabase(await ownDatabase()), {
      trustProxy: ['127.0.0.1'],
      limits: { ...limits, rate: { perSecond: 0.001, burst: 20 } },
    });
    try {
      const school = await limited.createProvider();
      const theirs = await withProfile(limited, school, 'publishable', { origins: [origin] });
      const others = await withProfile(limited, await limited.createProvider(), 'publishable', { origins: [origin] });
      const from = async (address: string, { get }: Pick<typeof theirs, 'get'> = theirs) => {
        const answers = [];
        for (let n = 0; n < 6; n += 1) answers.push(await get('/v2/courses', { 'x-forwarded-for': address }));
        return answers.map(({ status }) => status);
      };
      const five = [200, 200, 200, 200, 200, 429];
      expect([await from('203.0.113.1'), await from('203.0.113.2'), await from('203.0.113.1', others)]).toEqual(
        Array(3).fill(five),
      );
      // Keys of servers have no limit by address.
      expect(await from('203.0.113.1', school)).toEqual(Array(6).fill(200));
    } finally {
      await limited.close();
    }
  });

  test('beyond the rate limit a page can read why', async () => {
    const limited = await openTestApp(openTestDatabase(await ownDatabase()), {
      limits: { ...limits, rate: { perSecond: 0.001, burst: 1 } },
    });
    try {
      const theirs = await withProfile(limited, await limited.createProvider(), 'publishable', { origins: [origin] });
      await theirs.get('/v2/courses', { origin });
      const { status, headers } = await theirs.get('/v2/courses', { origin });
      expect([status, headers['access-control-allow-origin']]).toEqual([429, origin]);
      expect(headers).toHaveProperty('retry-after');
      const foreign = await theirs.get('/v2/courses', { origin: other });
      expect([foreign.status, corsHeaders(foreign.headers)]).toEqual([403, []]);
    } finally {
      await limited.close();
    }
  });
});

test.each(keyProfiles.filter((profile) => profile !== 'publishable'))(
  'a %s key gets no CORS headers and the same Vary as without an origin',
  async (profile) => {
    const reader = await withProfile(testApp, me, profile);
    for (const url of ['/v2/courses', '/v2/schools', '/schools', '/v2/nothing']) {
      const [plain, sent] = [await reader.get(url), await reader.get(url, { origin })];
      expect(corsHeaders(sent.headers)).toEqual([]);
      expect([sent.status, sent.text, sent.headers['vary']]).toEqual([plain.status, plain.text, plain.headers['vary']]);
      expect(String(sent.headers['vary'])).not.toContain('Origin');
    }
  },
);

test('a request without a valid key gets no CORS headers', async () => {
  const { status, headers } = await send(app, { url: '/v2/courses', headers: { origin } });
  expect([status, corsHeaders(headers), headers['vary']]).toEqual([401, [], vary]);
});
