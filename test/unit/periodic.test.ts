import { expect, test } from 'vitest';
import { runEach } from '../../src/database/periodic.ts';

test('a failure for one item does not stop the others, and is thrown at the end', async () => {
  const done: number[] = [];
  const work = async (item: number) => {
    if (item < 3) throw new Error(`item ${item}`);
    done.push(item);
    return Promise.resolve();
  };
  await expect(runEach([1, 2, 3, 4], work)).rejects.toThrow('item 1');
  expect(done).toEqual([3, 4]);
});
