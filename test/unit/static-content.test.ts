import { expect, test } from 'vitest';
import { loadOnce } from '../../src/http/compression/static-content.ts';

test('concurrent and later requests share one buffer per encoding', async () => {
  const loaded: string[] = [];
  const load = loadOnce(async (encoding) => {
    loaded.push(encoding);
    return Buffer.from(encoding);
  });
  const [first, second] = await Promise.all([load('gzip'), load('gzip')]);
  expect([second === first, (await load('gzip')) === first]).toEqual([true, true]);
  await load('br');
  expect(loaded).toEqual(['gzip', 'br']);
});

test('a failed load is repeated by the next request', async () => {
  let calls = 0;
  const load = loadOnce(async () => {
    calls += 1;
    if (calls === 1) throw new Error('no such file');
    return Buffer.from('content');
  });
  await expect(load('br')).rejects.toThrow('no such file');
  expect((await load('br')).toString()).toBe('content');
});
