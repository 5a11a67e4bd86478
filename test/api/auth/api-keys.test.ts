import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hashApiKey, mayBeApiKey, newApiKey } from '../../../src/core/api-key.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../../src/domains/school/auth/key-service.ts';
import { createTitledProvider } from '../../../src/domains/school/schools/service.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { send, sharedTestApp } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const status = async (key: string) => (await send(app, { url: '/v2/schools', headers: { 'x-api-key': key } })).status;

test('a key is 256 random bits with a prefix and a checksum', () => {
  const key = newApiKey();
  expect(key).toMatch(/^cbs_[A-Za-z0-9_-]{43}[0-9a-f]{8}$/);
  expect(newApiKey()).not.toBe(key);
  expect(mayBeApiKey(key)).toBe(true);
  expect(mayBeApiKey(key.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBe(false);
  expect(mayBeApiKey('x'.repeat(31))).toBe(false);
  expect(mayBeApiKey('x'.repeat(32))).toBe(true);
  expect(mayBeApiKey('x'.repeat(256))).toBe(false);
});

test('a provider can have several keys; a revoked one is rejected immediately', async () => {
  const me = await createProvider();
  const { keyId, apiKey } = await createKey(await me.ctx(), { label: 'website' });
  expect([await status(me.apiKey), await status(apiKey)]).toEqual([200, 200]);
  await revokeKey(database, keyId);
  await revokeKey(database, keyId);
  expect([await status(me.apiKey), await status(apiKey)]).toEqual([200, 401]);
});

test('concurrent requests share one key look-up; a later one starts another', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const keys = [me.apiKey, me.apiKey, other.apiKey, me.apiKey, newApiKey()];
  let responses: number[] = [];
  const together = await recordStatements(async () => void (responses = await Promise.all(keys.map(status))));
  expect(responses).toEqual([200, 200, 200, 200, 401]);
  const lookedUp = together.filter(isLookUp).map(({ values }) => values[0]);
  expect(lookedUp.sort()).toEqual([...new Set(keys)].map(hashApiKey).sort());

  const { keyId, apiKey } = await createKey(await me.ctx(), {});
  const pool = database.pool as unknown as { query: (...args: unknown[]) => Promise<unknown> };
  const query = pool.query.bind(pool);
  let second: number | undefined;
  const existing = vi.spyOn(pool, 'query').mockImplementationOnce(async (...args) => {
    const found = await query(...args);
    await revokeKey(database, keyId);
    second = await status(apiKey);
    return found;
  });
  onTestFinished(() => existing.mockRestore());
  expect([await status(apiKey), second]).toEqual([200, 401]);
});
const isLookUp = ({ name }: { name: string | undefined }) => name === 'authenticate';

test('a key is rejected after it expires', async () => {
  const ctx = await (await createProvider()).ctx();
  const ended = await createKey(ctx, { expires: '2020-01-01 00:00:00' });
  const lasting = await createKey(ctx, { expires: '2999-01-01 00:00:00' });
  expect([await status(ended.apiKey), await status(lasting.apiKey)]).toEqual([401, 200]);
});

test('only the hash and the last use of a key are stored', async () => {
  const me = await createProvider();
  await me.get('/v2/schools');
  const { rows } = await database.pool.query<{ hash: string; row: string }>(
    'select hash, k::text as row from api_keys k where provider_id = $1',
    [me.id],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]!.hash).toBe(hashApiKey(me.apiKey));
  expect(rows[0]!.row).not.toContain(me.apiKey);
  await expect.poll(async () => (await listKeys(await me.ctx()))[0]!.last_used_at).not.toBeNull();
});

test('an operator may choose a key in another format', async () => {
  const chosen = `chosen-${'k'.repeat(40)}-${process.pid}-${Date.now()}`;
  await createTitledProvider(database, 'Bootstrapped', null, chosen);
  expect(await status(chosen)).toBe(200);
});

describe('rotation', () => {
  const hour = 3_600;
  const expire = (keyId: number) =>
    database.pool.query({
      text: "update api_keys set expires_at = now() - interval '1 second' where id = $1",
      values: [keyId],
    });

  test('the new key is like the old one, which expires by itself after the overlap', async () => {
    const me = await createProvider();
    const origins = ['https://a.example'];
    const old = await createKey(await me.ctx(), { label: 'web', profile: 'publishable', origins });
    const before = Date.now();
    const created = await rotateKey(database, old.keyId, 24 * hour);
    expect([await status(old.apiKey), await status(created.apiKey)]).toEqual([200, 200]);
    const [first, second] = (await listKeys(await me.ctx())).slice(-2);
    expect([second!.key_id, second!.label, second!.profile, second!.origins, second!.expires_at]).toEqual([
      ...[created.keyId, 'web', 'publishable', origins, null],
    ]);
    const overlap = Date.parse(first!.expires_at!.replace(/([+-]\d\d)$/, '$1:00')) - before;
    expect(overlap / 1_000 / hour).toBeCloseTo(24, 1);
    await expire(old.keyId);
    expect([await status(old.apiKey), await status(created.apiKey)]).toEqual([401, 200]);
  });

  test('without an overlap the old key is invalid at once', async () => {
    const old = await createKey(await (await createProvider()).ctx(), {});
    const created = await rotateKey(database, old.keyId, 0);
    expect([await status(old.apiKey), await status(created.apiKey)]).toEqual([401, 200]);
  });

  test('the overlap does not extend an expiry', async () => {
    const old = await createKey(await (await createProvider()).ctx(), { expires: '2999-01-01 00:00:00' });
    const { oldExpiresAt } = await rotateKey(database, old.keyId, 2 * hour);
    const again = await rotateKey(database, old.keyId, 24 * hour);
    expect(again.oldExpiresAt).toBe(oldExpiresAt);
  });

  test('a revoked, expired or unknown key is refused, and no key is made', async () => {
    const me = await createProvider();
    const [revoked, expired] = [await createKey(await me.ctx(), {}), await createKey(await me.ctx(), {})];
    await revokeKey(database, revoked.keyId);
    await expire(expired.keyId);
    for (const { keyId } of [revoked, expired])
      await expect(rotateKey(database, keyId, hour)).rejects.toThrow('A revoked or expired key cannot be rotated');
    await expect(rotateKey(database, 999_999_999, hour)).rejects.toThrow('Key not found');
    expect(await listKeys(await me.ctx())).toHaveLength(3);
  });
});

test('the database refuses origins of another profile, and an unknown profile', async () => {
  const ctx = await (await createProvider()).ctx();
  await expect(createKey(ctx, { profile: 'read', origins: ['https://a.example'] })).rejects.toThrow();
  await expect(createKey(ctx, { profile: 'other' as 'read' })).rejects.toThrow();
});
