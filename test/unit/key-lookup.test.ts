import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createKeyLookup, type FoundKey } from '../../src/http/auth/key-lookup.ts';
import { hashApiKey } from '../../src/core/api-key.ts';

const toKey = (name: string) => name.padEnd(32, '-');
const validKey = toKey('valid');

/** A lookup whose statements wait for `respond`. */
function openLookup() {
  const sent: { hash: string; resolve(result: { rows: Partial<FoundKey>[] }): void }[] = [];
  const query = ({ values }: { values: string[] }) =>
    new Promise((resolve) => void sent.push({ hash: values[0]!, resolve }));
  const lookup = createKeyLookup({ unlocked: { $client: { query } } as never });
  const respond = async (rows: Partial<FoundKey>[] = []) => {
    sent.shift()!.resolve({ rows });
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  };
  const find = async (name: string, address = '192.0.2.1') => {
    const found = lookup.findKey(toKey(name), address);
    // Those without a result time out after the test.
    found.catch(() => undefined);
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    return { found };
  };
  return { ...lookup, find, respond, hashes: () => sent.map(({ hash }) => hash) };
}

const hashesOf = (...names: string[]) => names.map((name) => hashApiKey(toKey(name)));

test('unknown keys are looked up two at a time, and a known key at once', async () => {
  const lookup = openLookup();
  expect(lookup.isKnown(validKey)).toBe(false);
  const { found } = await lookup.find('valid');
  await lookup.respond([{ key_id: 7 }]);
  expect(await found).toEqual({ key_id: 7 });
  expect(lookup.isKnown(validKey)).toBe(true);

  for (let n = 0; n < 250; n += 1) await lookup.find(`guess ${n}`);
  expect(lookup.hashes()).toEqual(hashesOf('guess 0', 'guess 1'));
  await lookup.find('valid');
  expect(lookup.hashes()).toEqual(hashesOf('guess 0', 'guess 1', 'valid'));
});

test('an unknown key of another address is looked up before the further ones of the first', async () => {
  const lookup = openLookup();
  for (let n = 0; n < 20; n += 1) await lookup.find(`guess ${n}`);
  await lookup.find('new', '198.51.100.7');
  await lookup.respond();
  expect(lookup.hashes()).toEqual(hashesOf('guess 1', 'new'));
});

test('a revoked key is no longer known', async () => {
  const lookup = openLookup();
  await lookup.find('valid');
  await lookup.respond([{ key_id: 7 }]);
  const { found } = await lookup.find('valid');
  await lookup.respond();
  expect(await found).toBeUndefined();
  expect(lookup.isKnown(validKey)).toBe(false);
});
