import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { keyProfiles } from '../../../src/core/api-key.ts';
import { toPublicSchema } from '../../../src/http/publishable/serializer.ts';
import { getEndpoints } from '../../support/isolation.ts';
import { allowedProfiles } from '../../support/isolation-table.ts';
import { findWrongCells, refusal, withProfile } from '../../support/key-profiles.ts';
import { createPublicCatalog } from '../../support/public-catalog.ts';
import {
  emptyTestApp,
  limits,
  openTestApp,
  openTestAppForFile,
  openTestDatabase,
  ownDatabase,
  send,
} from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { app, createProvider } = testApp;

describe('the matrix of endpoints and profiles', () => {
  test('it has every endpoint', () => {
    expect(Object.keys(allowedProfiles).sort()).toEqual(
      getEndpoints(testApp)
        .map(({ name }) => name)
        .sort(),
    );
  });

  test('every endpoint, profile, own and foreign key answers as declared', async () => {
    const { count, wrong, rowsAreEqual } = await findWrongCells(testApp);
    expect({ wrong, rowsAreEqual }).toEqual({ wrong: [], rowsAreEqual: true });
    expect(count).toBeGreaterThan(0);
  });

  test('it finds cells that the table has wrong (negative control)', async () => {
    const other = await emptyTestApp();
    const { wrong } = await findWrongCells(other, {
      'GET /v2/customers': ['full', 'read', 'booking'],
      'POST /v2/course-tags': ['full', 'read'],
      'GET /v2/instructors/{id}': ['full', 'read'],
      'GET /v2/orders': allowedProfiles['GET /v2/orders']!,
    });
    expect(wrong.sort()).toEqual([
      'GET /v2/customers booking foreign',
      'GET /v2/customers booking own',
      'GET /v2/instructors/{id} booking foreign',
      'GET /v2/instructors/{id} booking own',
      'GET /v2/instructors/{id} publishable foreign',
      'GET /v2/instructors/{id} publishable own',
      'POST /v2/course-tags read foreign',
      'POST /v2/course-tags read own',
    ]);
  });
});

test('a key without a profile is full, and 404 and 405 do not depend on the profile', async () => {
  const me = await createProvider();
  const whoAmI = (await me.get('/v2/whoami')).json<{ key: { profile: string } }>();
  expect(whoAmI.key.profile).toBe('full');
  for (const profile of keyProfiles) {
    const key = await withProfile(testApp, me, profile);
    expect((await key.get('/v2/nothing')).status).toBe(404);
    expect((await key.request('DELETE')('/v2/customers')).status).toBe(405);
    expect((await key.request('HEAD')('/v2/courses')).status).toBe(200);
    expect((await key.request('HEAD')('/v2/customers')).status).toBe(['full', 'read'].includes(profile) ? 200 : 403);
  }
});

test('the refusal is in the words of each interface', async () => {
  const key = await withProfile(testApp, await createProvider(), 'publishable');
  const error = 'A key with the profile publishable may not do this';
  const responses = [
    await key.get('/v2/orders'),
    await key.get('/schools'),
    await key.request('POST')('/v2/booking', {}),
  ];
  expect(responses.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(responses.map((one) => one.json<object>())).toEqual([
    { error },
    { status: 'failure', error },
    { successful: false, errors: [{ code: 'forbidden', message: error }], error },
  ]);
  expect(refusal('GET /v2/orders', 'publishable')).toEqual({ error });
});

test('a refused call counts for the rate limit and reads no body', async () => {
  const limited = await openTestApp(openTestDatabase(await ownDatabase()), {
    limits: { ...limits, rate: { perSecond: 0.001, burst: 2 } },
  });
  try {
    const key = await withProfile(limited, await limited.createProvider(), 'read');
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await key.request('POST')('/v2/courses', {})).status);
    expect(statuses).toEqual([403, 403, 429]);
  } finally {
    await limited.close();
  }
});

test("publishable keys do not use up the rate limit of the school's other keys", async () => {
  const limited = await openTestApp(openTestDatabase(await ownDatabase()), {
    limits: { ...limits, rate: { perSecond: 0.001, burst: 8 } },
  });
  try {
    const me = await limited.createProvider();
    const [first, second] = [
      await withProfile(limited, me, 'publishable'),
      await withProfile(limited, me, 'publishable'),
    ];
    const statuses = [];
    for (const key of [first, second, first, second, ...Array.from({ length: 9 }, () => me)])
      statuses.push((await key.get('/v2/course-tags')).status);
    // One address gets a quarter.
    expect(statuses).toEqual([200, 200, 429, 429, ...Array.from({ length: 8 }, () => 200), 429]);
  } finally {
    await limited.close();
  }
});

test('a booking key sees no customer beside a course', async () => {
  const { me, ids } = await createPublicCatalog(testApp);
  const key = await withProfile(testApp, me, 'booking');
  const refused = await key.get('/v2/coursedates?include[]=course.customer&include[]=course');
  expect([refused.status, refused.json()]).toEqual([
    403,
    { error: 'A key with the profile booking may not include course.customer' },
  ]);
  expect((await me.get('/v2/coursedates?include[]=course.customer')).status).toBe(200);
  const booked = await key.request('POST')('/v2/booking', {
    coursedate_id: ids.dates[0],
    payment_method: 'invoice',
    participants: [{ firstname: 'A', lastname: 'B', email: 'a@x.example' }],
  });
  expect(booked.status, booked.text).toBe(201);
});

test('an object without declared public members is refused at start', () => {
  const schema = { type: 'object', properties: { id: { type: 'integer' } } };
  expect(() => toPublicSchema(schema as never, 'Unknown')).toThrow('No member of Unknown is open to publishable keys');
});

test.each(keyProfiles)('GET /v2/whoami describes a %s key', async (profile) => {
  const me = await createProvider('Who I am');
  const key = await withProfile(testApp, me, profile, { label: 'web', expires: '2999-01-01 00:00:00' });
  const { status, ...response } = await key.get('/v2/whoami');
  expect(status).toBe(200);
  // The label is the operator's own, and everyone can read a publishable key.
  const label = profile === 'publishable' ? {} : { label: 'web' };
  expect(response.json()).toEqual({
    provider: { id: me.id, title: 'Who I am' },
    key: { id: key.keyId, ...label, profile, expires_at: '2999-01-01T00:00:00+01:00' },
    rate_limit: null,
    timezone: 'Europe/Oslo',
    server_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/),
    version: 'test',
  });
  expect((await send(app, { url: '/v2/whoami' })).status).toBe(401);
});

test('GET /v2/whoami names the rate limit of the school', async () => {
  const limited = await openTestApp(openTestDatabase(inject('shared')), {
    limits: { ...limits, rate: { perSecond: 20, burst: 40 } },
  });
  onTestFinished(limited.close);
  const me = await limited.createProvider();
  const { rate_limit } = (await me.get('/v2/whoami')).json<{ rate_limit: unknown }>();
  expect(rate_limit).toEqual({ per_second: 20, burst: 40 });
});
