import { expect, onTestFinished, test, vi } from 'vitest';
import { hashApiKey, mayBeApiKey, newApiKey } from '../../../src/lib/api-key.ts';
import { createKey, listKeys, revokeKey } from '../../../src/resources/auth/key-service.ts';
import { createTitledProvider } from '../../../src/resources/schools/provider-service.ts';
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
