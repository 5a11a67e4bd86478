import { expect, test } from 'vitest';
import { compareAnswers, sendAsBoth, sharedIds } from '../../support/equal-schools.ts';

const countRows = (dump: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(dump).map(([table, rows]) => [table, (rows as unknown[]).length]));

test('two schools with the same titles, codes and e-mails write and read the same, each its own', async () => {
  const { answers, others, rows, left, right } = await sendAsBoth(true);
  expect(compareAnswers(answers, others, sharedIds)).toEqual([]);
  expect(left).toEqual(rows);
  expect(countRows(right)).toEqual(countRows(left));
  const good = answers.filter(({ request, status }) => !request.startsWith('GET ') && status < 300);
  expect(good.length).toBeGreaterThan(20);
}, 300_000);
