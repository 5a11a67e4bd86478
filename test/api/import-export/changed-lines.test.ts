import { expect, test } from 'vitest';
import { allAreas } from '../../../src/database/areas.ts';
import { importObjects } from '../../support/all-responses.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const user = (ref: string | number, fields: Record<string, unknown> = {}) => ({
  ...{ kind: 'user', ref, username: `user ${ref}` },
  ...fields,
});
const changed = (line: number, what: string) =>
  expect.stringMatching(new RegExp(`^${line}: The ${what} was imported before with other values; .*--skip-changed$`));

test('lines with other values than were imported under their refs are refused, of every kind', async () => {
  const me = await testApp.createProvider();
  const before = [
    { kind: 'tag', ref: '1', title: 'Evening' },
    user('9001', { firstname: 'Anne' }),
    user('9002', { custom_properties: { a: '1', b: '2' } }),
    { kind: 'course', ref: '1', title: 'Knitting', products: [{ title: 'Knitting', is_main_product: true }] },
  ];
  expect(await importObjects(me, before)).toMatchObject({ written: 4, reasons: [] });
  const after = [
    { kind: 'tag', ref: '1', title: 'Weekend' },
    user('9001', { firstname: 'Ny', username: 'ny' }),
    user('9002', { custom_properties: { a: '1', b: '3' } }),
    { kind: 'course', ref: '1', title: 'Knitting', products: [{ title: 'Wool', is_main_product: true }] },
    user('9003'),
  ];
  expect(await importObjects(me, after)).toMatchObject({
    ...{ read: 5, known: 4, written: 0, bad: 4 },
    reasons: [changed(1, 'tag 1'), changed(2, 'user 9001'), changed(3, 'user 9002'), changed(4, 'course 1')],
  });
  expect((await importObjects(me, after, { dryRun: true })).reasons).toHaveLength(4);
  expect(await importObjects(me, after, { skipChanged: true })).toMatchObject({ known: 4, written: 1, reasons: [] });
  expect((await me.get('/v2/search-users?username=user 9001')).json()).toMatchObject([{ firstname: 'Anne' }]);
});

test('the order, the form and the empty values of a line do not count', async () => {
  const me = await testApp.createProvider();
  const line = user('1', { lastname: 'Lie', custom_properties: { a: '1', b: '2' }, password: 'eight or more' });
  await importObjects(me, [line, { kind: 'location', ref: 2, title: 'Hall', capacity_max: 12, is_virtual: true }]);
  const again = [
    { custom_properties: { b: '2', a: '1' }, lastname: 'Lie', firstname: '', email: null, ref: 1, kind: 'user' },
    { kind: 'location', ref: '2', title: 'Hall', capacity_max: '12', is_virtual: 'true', address: undefined },
  ].map((one) => (one.kind === 'user' ? { ...one, username: 'user 1', password: 'another one' } : one));
  expect(await importObjects(me, again)).toMatchObject({ known: 2, written: 0, reasons: [] });
});

test('a line that an earlier version imported is skipped, whatever its values', async () => {
  const me = await testApp.createProvider();
  await importObjects(me, [user('1')]);
  const ctx = await me.ctx();
  await ctx.write(allAreas, ({ tx }) =>
    tx.execute(`update import_refs set content = null where provider_id = ${me.id}`),
  );
  expect(await importObjects(me, [user('1', { firstname: 'Ny' })])).toMatchObject({ known: 1, reasons: [] });
});

test('a stored hash does not depend on the password', async () => {
  const me = await testApp.createProvider();
  const read = async () =>
    (await testApp.database.pool.query('select content from import_refs where provider_id = $1', [me.id])).rows;
  await importObjects(me, [user('1', { password: 'eight or more' })]);
  const first = await read();
  expect(first).toEqual([{ content: expect.stringMatching(/^[\w-]{22}$/) }]);
  const other = await testApp.createProvider();
  await importObjects(other, [user('1', { password: 'another one' })]);
  const { rows } = await testApp.database.pool.query('select content from import_refs where provider_id = $1', [
    other.id,
  ]);
  expect(rows).toEqual(first);
});
