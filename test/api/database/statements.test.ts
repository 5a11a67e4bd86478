import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statement, statements, type DeclaredStatement } from '../../../src/database/statement.ts';
import { allStatements } from '../../support/all-statements.ts';
import { Describe, findDifferences, refuseUndeclaredNulls } from '../../support/declared-rows.ts';
import { connectionTo, ownDatabase } from '../../support/test-app.ts';

const client = new Client(connectionTo(await ownDatabase(afterAll)));
beforeAll(() => client.connect());
afterAll(() => client.end());

const compare = async (declared: DeclaredStatement) =>
  findDifferences(declared, await client.query(new Describe(declared.text)).described);

const declaredStatements = [...allStatements.values()];

test('each statement has the parameters and columns of its declaration', async () => {
  const found: Record<string, unknown> = {};
  for (const one of declaredStatements) {
    const differences = await compare(one).catch((error: unknown) => [String(error)]);
    if (differences.length > 0) found[one.name] = differences;
  }
  expect(found).toEqual({});
});

const takes = { providerId: 'int', title: 'text' } as const;
const insert =
  'insert into tags (provider_id, title, created_at, updated_at) values (:providerId, :title, now(), now())';

test.each<[string, Partial<DeclaredStatement>, string[]]>([
  [
    'swapped parameters',
    { takes: { providerId: 'text', title: 'int' } },
    [':providerId is of type 20', ':title is of type 25'],
  ],
  ['another type', { returns: { id: 'text', title: 'text' } }, ['id is of type 20']],
  ['a column too few', { returns: { id: 'int' } }, ['title is of type 25']],
  ['a column too many', { returns: { id: 'int', title: 'text', slug: 'text' } }, ['slug is of type none']],
])('a declaration with %s is found', async (_, declared, expected) => {
  const text = insert.replace(':providerId', '$1').replace(':title', '$2') + ' returning id, title';
  const right = { name: 'test', text, takes, returns: { id: 'int', title: 'text' } } as const;
  expect(await compare(right)).toEqual([]);
  expect(await compare({ ...right, ...declared })).toEqual(expected);
});

test.each<[string, () => unknown, string]>([
  ['an undeclared parameter', () => statement('test_undeclared', { takes: {} }, 'select :x'), ':x is not declared'],
  ['an unused one', () => statement('test_unused', { takes: { x: 'int' } }, 'select 1'), 'x is not used'],
  ['no provider', () => statement('test_across', { takes: { x: 'int' } }, 'select :x'), 'no provider is named'],
])('a statement with %s is refused', (_, declare, message) => expect(declare).toThrow(message));

test('a parameter is found beside quoted text, casts and comments', () => {
  const declared = statement(
    'test_tokens',
    { takes: { providerId: 'int', ids: 'int[]', lines: { rows: { product: 'int?' } } } },
    `select ':a', "b:c", 1::text from :lines where :providerId::int = 1 and product in :ids -- :d`,
  );
  statements.delete('test_tokens');
  expect(declared.text).toBe(
    `select ':a', "b:c", 1::text from json_to_recordset($3) as "lines"(place int, "product" bigint)` +
      ` where $1::int = 1 and product in (select json_array_elements_text($2)::bigint) -- :d`,
  );
});

test('a row with null in a column that has none is refused', () => {
  const { name } = declaredStatements.find(({ returns }) => Object.keys(returns).length === 1)!;
  const [column] = Object.keys(statements.get(name)!.returns);
  const check = (row: object) => () => refuseUndeclaredNulls(name, { rows: [row] } as never);
  expect(check({ [column!]: 1 })).not.toThrow();
  expect(check({ [column!]: null })).toThrow('is null');
  expect(check({})).toThrow('is undefined');
});
