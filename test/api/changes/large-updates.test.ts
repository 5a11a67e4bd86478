import { Client } from 'pg';
import { expect, test } from 'vitest';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

type Node = {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Node[];
};
const rowsOf = (node: Node): number[] => [
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)) *
    node['Actual Loops'],
  ...(node.Plans ?? []).flatMap(rowsOf),
];

/** Runs the statement, and returns the number of rows that the largest step of any plan, also of a trigger, reads. */
async function countRows(client: Client, statement: string) {
  const plans: Node[] = [];
  const onNotice = ({ message = '' }: { message?: string | undefined }) => {
    if (message.includes('"Plan"'))
      plans.push((JSON.parse(message.slice(message.indexOf('{'))) as { Plan: Node }).Plan);
  };
  client.on('notice', onNotice);
  await client.query(statement);
  client.off('notice', onNotice);
  expect(plans.length).toBeGreaterThan(1);
  return Math.max(...plans.flatMap(rowsOf));
}

// PostgreSQL plans a statement of a trigger once per connection, for the number of rows of that time.
test('an update of many rows after one of one row reads each row few times', async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  const { id } = await testApp.createProvider();
  const client = new Client(connectionTo(name));
  await client.connect();
  const inTransaction = async (work: () => Promise<unknown>) => {
    await client.query(`begin; update provider_state set changed_at = clock_timestamp() where provider_id = ${id}`);
    await work();
    await client.query('commit');
  };
  try {
    await client.query("drop trigger refuse_unlocked_update on providers; load 'auto_explain'");
    await inTransaction(() => client.query(fill(id)));
    for (const [table, set] of Object.entries(changes)) {
      const where = `where ${table === 'providers' ? 'parent_id' : 'provider_id'} = ${id}`;
      const update = `update ${table} set ${set} ${where}`;
      const updateOne = `${update} and id = (select min(id) from ${table} ${where})`;
      await inTransaction(() => client.query(updateOne));
      for (const earlier of ['', updateOne])
        await inTransaction(async () => {
          if (earlier) await client.query(earlier);
          await client.query(
            `select set_config('auto_explain.' || name, value, true) from (values ${logged}) _ (name, value)`,
          );
          const rows = await countRows(client, update);
          expect([table, earlier, rows, rows >= count && rows < 5 * count]).toEqual([table, earlier, rows, true]);
        });
    }
  } finally {
    await client.end();
    await testApp.close();
  }
});

const logged = `('log_min_duration', '0'), ('log_nested_statements', 'on'), ('log_analyze', 'on'), ('log_timing', 'off'),
  ('log_format', 'json'), ('log_level', 'notice')`;
const count = 1_200;
const changes = {
  tags: 'updated_at = clock_timestamp()',
  courses: 'updated_at = clock_timestamp()',
  course_dates: 'updated_at = clock_timestamp(), num_waiting = num_waiting + 1',
  providers: 'updated_at = clock_timestamp()',
};

/** Rows of each table whose update has a trigger of its own; sub-schools beside. */
const fill = (id: number) => `
  insert into tags (provider_id, title, created_at, updated_at)
    select ${id}, 'Tag ' || n, now(), now() from generate_series(1, ${count}) n;
  insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at)
    select ${id}, 'Course ' || n, 'course-' || n, 1, 1, 'no', now(), now() from generate_series(1, ${count}) n;
  insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
    select ${id}, id, '2026-01-01', '2026-01-02', '2026-01-01', 'Europe/Oslo', 'no', now(), now()
    from courses where provider_id = ${id};
  insert into providers (parent_id, root_id, title, slug, created_at, updated_at)
    select ${id}, ${id}, 'School ' || n, 'school-' || n, now(), now() from generate_series(1, ${count}) n;
`;
