import { expect, onTestFinished, test } from 'vitest';
import { getErrorCode } from '../../../src/core/database-errors.ts';
import type { Queryable } from '../../../src/database/statements.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const failing = { name: 'divide_by_zero', text: 'select 1 / $1::int' };
const fine = { name: 'select_one', text: 'select $1::int' };
const execute = ({ $client }: Queryable, text: typeof fine, values: number[]) => $client.query({ ...text, values });

test('the first error of a transaction counts, also where that of a pipelined statement arrives before', async () => {
  const database = openTestDatabase(await ownDatabase());
  const testApp = await openTestApp(database);
  onTestFinished(testApp.close);
  const { id } = await testApp.createProvider();
  const codeOf = (work: Promise<unknown>) => work.then(() => 'none', getErrorCode);

  const late = async (thrown: Promise<unknown>) => {
    await thrown.catch(async (error: unknown) => {
      await Promise.resolve();
      throw error;
    });
  };
  const pipelined = database.write([id], ['people'], ({ tx }) =>
    Promise.all([late(execute(tx, failing, [0])), execute(tx, fine, [1])]),
  );
  expect(await codeOf(pipelined)).toBe('22012');

  // An earlier failure of the connection is not that of a later transaction.
  const within = database.write([id], ['people'], async ({ tx }) => {
    await tx.$client.query('savepoint one');
    await codeOf(execute(tx, failing, [0]));
    await tx.$client.query('rollback to savepoint one');
    return [
      await codeOf(tx.$client.query('select from no_such_table')),
      await codeOf(execute(tx, fine, [1])),
      await codeOf(tx.$client.query('select 1')),
    ];
  });
  expect(await within).toEqual(['42P01', '42P01', '42P01']);
});
