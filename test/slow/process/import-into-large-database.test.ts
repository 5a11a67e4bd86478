import { expect, onTestFinished, test } from 'vitest';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { importObjects } from '../../support/all-responses.ts';
import { openTestDatabase, openTestApp, ownDatabase } from '../../support/test-app.ts';
import { allAreas } from '../../../src/database/areas.ts';

function* school(participants: number) {
  yield { kind: 'course', ref: 'course', title: 'Knitting' };
  yield { kind: 'coursedate', ref: 'date', course_id: 'course', start_at: '2027-03-01', end_at: '2027-03-01' };
  for (let n = 1; n <= participants; n += 1) {
    yield { kind: 'user', ref: `u${n}`, username: `user-${n}`, firstname: 'A', lastname: 'B' };
    yield { kind: 'order', ref: `o${n}`, title: 'Knitting', booking: { ref: `b${n}`, coursedate_id: 'date' } };
    yield { kind: 'participant', ref: `p${n}`, idBooking: `b${n}`, coursedate_id: 'date', user_id: `u${n}` };
  }
}

test('a large import after a small one does not scan tables repeatedly', async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const [small, large] = [await testApp.createProvider(), await testApp.createProvider()];
  expect(await importObjects(small, school(20), {}, { name })).toMatchObject({ written: 62, reasons: [] });
  const read = async () => {
    // PostgreSQL reports a session's statistics when it ends, or a second later.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { rows } = await testApp.database.pool.query<{ table: string; count: number }>(
      `select t.relname as table, (coalesce(t.seq_tup_read, 0) + coalesce(sum(i.idx_tup_read), 0))::int8 as count
       from pg_stat_user_tables t left join pg_stat_user_indexes i using (relid)
       where t.relname in ('orders', 'bookings', 'participants', 'import_refs', 'course_users')
       group by t.relname, t.seq_tup_read order by 1`,
    );
    return rows;
  };
  const before = await read();
  const count = 4_000;
  expect(await importObjects(large, school(count), {}, { name })).toMatchObject({
    written: 3 * count + 2,
    reasons: [],
  });
  const after = await read();
  const perRow = after.map(
    ({ table, count: sum }, n) => [table, Math.round((sum - before[n]!.count) / count)] as const,
  );
  expect(perRow.filter(([, times]) => times > 60)).toEqual([]);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s stops the import and its database statement', async (signal) => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  const file = join(temporaryFolder(), 'tags.ndjson');
  writeFileSync(file, JSON.stringify({ kind: 'tag', ref: 't', title: 'Tag' }));
  const waiting = async () =>
    (
      await testApp.database.pool.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rows.length;
  await testApp.database.write([me.id], allAreas, async () => {
    const child = spawn(process.execPath, ['dist/cli.js', 'import', file, '--provider', String(me.id)], {
      env: { ...process.env, DATABASE_URL: databaseUrl(name) },
    });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    await expect.poll(waiting).toBe(1);
    child.kill(signal);
    const [code] = (await once(child, 'close')) as [number];
    expect([code, stderr]).toEqual([1, `error: stopped by ${signal}\n`]);
    await expect.poll(waiting).toBe(0);
  });
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});
