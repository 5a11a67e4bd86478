import { expect, test } from 'vitest';
import { importObjects } from '../../support/all-responses.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

test('a transaction writes few lines if they have many parts', async () => {
  const me = await createProvider();
  const gatherings = Array.from({ length: 100 }, () => ({
    gathering_at: '2031-06-10 09:00',
    gathering_end_at: '2031-06-10 10:00',
  }));
  const dates = Array.from({ length: 60 }, (_, n) => ({
    ...{ kind: 'coursedate', ref: `d${n}`, course_id: 'c', start_at: '2031-06-10', end_at: '2031-06-10' },
    gatherings,
  }));
  const lines = [{ kind: 'course', ref: 'c', title: 'Knots' }, ...dates];
  expect(await importObjects(me, lines)).toMatchObject({ reasons: [], written: 61 });
  const { rows } = await database.pool.query<{ count: number }>(
    'select count(*)::int as count from gatherings where provider_id = $1 group by created_at order by created_at',
    [me.id],
  );
  expect(rows.map(({ count }) => count)).toEqual([3_000, 2_900, 100]);
});
