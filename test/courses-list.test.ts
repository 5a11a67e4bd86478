import { expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { sharedWorld, type Answer } from './support/world.ts';

const world = await sharedWorld();
const { newProvider } = world;
const idsOf = (answer: Answer) => answer.json<{ id: number }[]>().map(({ id }) => id);

test('lists only the own courses, by id', async () => {
  const [me, other] = [await newProvider(), await newProvider()];
  const [a, b] = [await me.course(), await me.course()];
  await other.course();

  const answer = await me.get('/v2/courses');
  expect(answer.status).toBe(200);
  expect(idsOf(answer)).toEqual([a, b]);
});
