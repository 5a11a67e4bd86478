import { expect, test } from 'vitest';
import { renameAdminUser } from '../../../src/domains/school/admin-users/service.ts';
import { allSent, startMailServer, openMailTestApp, readOutbox, startWorker } from '../../support/mail.ts';
import { runCli, databaseUrl } from '../../support/processes.ts';
import type { Provider } from '../../support/test-app.ts';

const email = 'kari@people.example';
const save = (me: Provider, fields: Record<string, unknown> = {}) =>
  me.post('/v2/admin-users', { email, role_ids: [1], ...fields });
const namesAt = async (me: Provider) =>
  (await me.get('/v2/admin-users'))
    .json<{ firstname: string; lastname: string }[]>()
    .map(({ firstname, lastname }) => [firstname, lastname]);

test('a membership starts with the names as first given, which no school changes at another', async () => {
  const testApp = await openMailTestApp();
  const [first, second, third] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  expect((await save(first, { firstname: 'Kari', lastname: 'Nordmann' })).status).toBe(201);
  const attached = await save(second, { firstname: 'Ola', lastname: 'Hansen', position: 'Boss' });
  const names = { firstname: 'Kari', lastname: 'Nordmann' };
  expect([attached.status, attached.json()]).toMatchObject([200, { ...names, position: '' }]);
  await renameAdminUser(await first.ctx(), attached.json<{ id: number }>().id, { firstname: 'K', lastname: 'N' });
  expect((await save(third)).json()).toMatchObject({ ...names, email });
  expect([await namesAt(first), await namesAt(second), await namesAt(third)]).toEqual([
    [['K', 'N']],
    [['Kari', 'Nordmann']],
    [['Kari', 'Nordmann']],
  ]);
  expect((await second.get('/v2/app-users')).json()).toMatchObject([{ firstname: 'Kari', lastname: 'Nordmann' }]);
  const [{ id }] = (await second.get('/v2/admin-users')).json<[{ id: number }]>();
  const customer = await second.post('/v2/customers', { title: 'Fjord Energy', seller_id: id });
  const customerId = customer.json<{ customer_id: number }>().customer_id;
  expect((await second.get(`/v2/customers/${customerId}`)).text).toMatch(/"seller":\{[^}]*"firstname":"Kari"/);

  await save(second, { firstname: 'Ola', lastname: 'Hansen' });
  await renameAdminUser(await third.ctx(), id, { firstname: '', lastname: '' });
  await save(third, { firstname: 'Ola', lastname: 'Hansen' });
  expect([await namesAt(second), await namesAt(third)]).toEqual([[['Kari', 'Nordmann']], [['', '']]]);
});

test('a new member without a password is invited under the name used at that school', async () => {
  const testApp = await openMailTestApp();
  const [first, second, third] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  const { id } = (await save(first, { firstname: 'Rude', lastname: 'Word' })).json<{ id: number }>();
  await save(second, { firstname: 'Kari', lastname: 'Nordmann' });
  await renameAdminUser(await second.ctx(), id, { firstname: 'Kari', lastname: 'Nordmann' });
  await save(second, { send_invite: true });
  expect((await readOutbox(testApp)).map(({ purpose }) => purpose)).toEqual(['invitation', 'invitation']);
  const server = await startMailServer();
  startWorker(testApp, { to: server.url });
  await allSent(testApp);
  const greeted = server.received.map(({ from, text }) => [from?.name, /Hello (\w+),/.exec(text ?? '')?.[1]]);
  expect(new Map(greeted as [string, string][])).toEqual(
    new Map([
      [first.title, 'Rude'],
      [second.title, 'Kari'],
    ]),
  );

  await testApp.database.pool.query(`update admin_users set password_hash = 'x' where email = $1`, [email]);
  expect((await save(third, { send_invite: true })).status).toBe(200);
  expect(await readOutbox(testApp)).toHaveLength(2);
});

test('an operator renames an admin user at one school', async () => {
  const testApp = await openMailTestApp();
  const [first, second] = [await testApp.createProvider(), await testApp.createProvider()];
  await save(first, { firstname: 'Rude', lastname: 'Word' });
  await save(second, { firstname: 'Rude', lastname: 'Word' });
  const etag = String((await first.get('/v2/admin-users')).headers['etag']);
  const [{ id }] = (await first.get('/v2/admin-users')).json<[{ id: number }]>();
  const rename = (user: number, lastname: string) =>
    runCli(
      ['user', 'rename', '--provider', String(first.id), '--admin-user', String(user)].concat([
        '--firstname',
        'Kari',
        '--lastname',
        lastname,
      ]),
      { DATABASE_URL: databaseUrl(testApp.name) },
    );
  expect(await rename(id, 'Nordmann')).toMatchObject({
    code: 0,
    stdout: `Renamed admin user ${id} to Kari Nordmann at provider ${first.id}\n`,
  });
  expect([await namesAt(first), await namesAt(second)]).toEqual([[['Kari', 'Nordmann']], [['Rude', 'Word']]]);
  expect((await first.get('/v2/admin-users', { 'if-none-match': etag })).status).toBe(200);
  expect((await rename(id, 'A\r\nX-EVIL:1\u2028B')).code).toBe(0);
  expect(await namesAt(first)).toEqual([['Kari', 'A X-EVIL:1 B']]);
  expect(await rename(id + 1, 'Nordmann')).toMatchObject({ code: 1, stderr: expect.stringContaining('not') });
  expect((await rename(id, '')).code).not.toBe(0);
});
