import { afterAll, expect, test } from 'vitest';
import { compareAnswers, createEqualSchools, sendAll } from '../../support/equal-schools.ts';
import { dumpRows } from '../../support/isolation.ts';
import { openTestApp, openTestDatabase, ownDatabase, type BuildApp } from '../../support/test-app.ts';
import { buildAppWithoutTenancy } from '../../support/unscoped.ts';

/** Ids of data that all schools share. */
const sharedIds =
  /(place|status|language|level|form_of_teaching|time_of_day|categor|country|currency|paid|durations|seller|idUser|admin|app-users|id_type|vat)/i;

/** Sends everything as one school and then as another one with the same keys. */
async function sendAsBoth(isFull: boolean, build?: BuildApp) {
  const name = await ownDatabase(afterAll);
  const creating = await openTestApp(openTestDatabase(name));
  const [first, second] = await createEqualSchools(creating);
  await creating.close();
  const testApp = await openTestApp(openTestDatabase(name), {}, build);
  afterAll(testApp.close);
  const answers = await sendAll(testApp, name, first, isFull);
  const rows = await dumpRows(testApp, first.me.id);
  const others = await sendAll(testApp, name, second, isFull);
  const [left, right] = [await dumpRows(testApp, first.me.id), await dumpRows(testApp, second.me.id)];
  return { answers, others, rows, left, right };
}

const countRows = (dump: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(dump).map(([table, rows]) => [table, (rows as unknown[]).length]));

test('two schools with the same titles, codes and e-mails write and read the same, each its own', async () => {
  const { answers, others, rows, left, right } = await sendAsBoth(true);
  expect(compareAnswers(answers, others, sharedIds)).toEqual([]);
  expect(left).toEqual(rows);
  expect(countRows(right)).toEqual(countRows(left));
  const good = answers.filter(({ request, status }) => !request.startsWith('GET ') && status < 300);
  expect(good.length).toBeGreaterThan(20);
});

test('negative control: without the scope the second school finds the keys of the first', async () => {
  const { answers, others } = await sendAsBoth(false, await buildAppWithoutTenancy());
  const requests = compareAnswers(answers, others, sharedIds);
  for (const url of ['POST /v#/course-tags', 'POST /v#/courses'])
    expect(
      requests.some((request) => request.startsWith(url)),
      url,
    ).toBe(true);
});
