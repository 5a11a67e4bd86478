import { expect, test } from 'vitest';
import { createItemCache } from '../../src/plugins/delivery/webhooks/items.ts';

test('an item is loaded once for all webhooks, and again after a failure', async () => {
  const { find } = createItemCache();
  let loads = 0;
  const load = async () => ({ item: (loads += 1), length: 10 });
  expect(await Promise.all([find('1 1', load), find('1 1', load)])).toEqual([1, 1]);
  expect(await find('1 2', load)).toBe(2);
  await expect(find('1 3', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  expect(await find('1 3', load)).toBe(3);
});

test('the cache holds ten of the largest items', async () => {
  const { find } = createItemCache();
  const loaded: number[] = [];
  const findLarge = (n: number) =>
    find(`1 ${n}`, async () => {
      loaded.push(n);
      return { item: n, length: 1_000_000 };
    });
  for (let n = 1; n <= 11; n += 1) await findLarge(n);
  await findLarge(11);
  expect(await findLarge(1)).toBe(1);
  expect(loaded).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1]);
});
