import { expect, test } from 'vitest';
import { compareAnswers, sendAsBoth, sharedIds } from '../../support/equal-schools.ts';
import { hiddenWithoutScope } from '../../support/isolation-table.ts';
import * as support from '../../support/isolation.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { buildAppWithoutTenancy } from '../../support/unscoped.ts';

test("without the scope every list shows the owner's data", async () => {
  const open = await openTestApp(openTestDatabase(await ownDatabase()), {}, await buildAppWithoutTenancy());
  try {
    const reads = support.getEndpoints(open).filter(({ method }) => method === 'GET');
    const theirs = await support.createOwner(open);
    const stranger = await open.createProvider();
    const differing: string[] = [];
    for (const endpoint of reads) {
      const plain = support
        .readRequests(endpoint, theirs.ids)
        .filter(({ include, partnerQuery }) => include !== undefined && partnerQuery === '');
      for (const { url, include } of plain) {
        const { status, text } = await stranger.get(url);
        const paths = support.markedPaths(text);
        const isHidden = (include || endpoint.name) in hiddenWithoutScope;
        const hasItem = support.listedIn(text).length > 0 || (endpoint.path.includes('{') && status === 200);
        const isShown = include ? paths.some((path) => path.startsWith(`${include}.`)) : paths.length > 0;
        if ((isShown || (!include && !isHidden && hasItem)) === isHidden) differing.push(url);
      }
    }
    expect(differing).toEqual([]);
    // The triggers would reject unlocked writes first.
    for (const name of ['instructors', 'orders', 'order_lines', 'participants'])
      await open.database.pool.query(`alter table ${name} disable trigger user`);
    const attempts = [
      () => stranger.put(`/v2/instructors/${theirs.ids.instructor}`, { phone: 'changed' }),
      () => stranger.post(`/v2/orders/${theirs.ids.toExport}/export`),
      () => stranger.put(`/v2/participants/${theirs.ids.participant}`, { idPaid: 1 }),
      () => stranger.put(`/v2/booking/${theirs.ids.booking}/deregister`),
    ];
    for (const attempt of attempts) {
      const before = await support.dumpRows(open, theirs.me.id);
      const response = await attempt();
      expect(response.status, response.text).toBe(200);
      expect(await support.dumpRows(open, theirs.me.id)).not.toEqual(before);
    }
  } finally {
    await open.close();
  }
});

test('without the scope the second school finds the keys of the first', async () => {
  const { answers, others } = await sendAsBoth(false, await buildAppWithoutTenancy());
  const requests = compareAnswers(answers, others, sharedIds);
  for (const url of ['POST /v#/course-tags', 'POST /v#/courses'])
    expect(
      requests.some((request) => request.startsWith(url)),
      url,
    ).toBe(true);
});
