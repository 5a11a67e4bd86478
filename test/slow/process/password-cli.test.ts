import { expect, inject, test } from 'vitest';
import { createUser } from '../../support/orders.ts';
import { runCli, databaseUrl } from '../../support/processes.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const password = 'fjord and forest';
const username = 'åse-24@people.example';
const request = (me: Provider, tried: string) => me.post('/v2/check-user-credentials', { username, password: tried });

test('the command line sets a password from the first line of standard input', async () => {
  const me = await createProvider();
  const id = await createUser(me, { username, firstname: 'Åse', lastname: 'Nordmann', email: username });
  const env = { DATABASE_URL: databaseUrl(inject('shared')) };
  const set = (input: string | Buffer, user = id) =>
    runCli(['user', 'set-password', '--provider', String(me.id), '--user', String(user), '--json'], env, input);

  const response = await set(`${password}\r\nanother line\n`);
  expect([response.code, response.json()]).toEqual([0, { user_id: id }]);
  expect((await request(me, password)).json()).toMatchObject({ valid: true });

  expect((await set('\uFEFFfrom an editor\n')).code).toBe(0);
  expect((await request(me, 'from an editor')).json()).toMatchObject({ valid: true });
  expect((await set(password)).code).toBe(0);

  for (const [input, user, error] of [
    [Buffer.from('bl\xe5b\xe6r syltet\xf8y\n', 'latin1'), id, 'The password must be written in UTF-8'],
    ['short\n', id, 'A password must have 8 to 200 characters'],
    ['', id, 'A password must have 8 to 200 characters'],
    ['Password1\n', id, 'This is one of the 10,000 most common passwords'],
    [
      'nordmann-åse-24\n',
      id,
      "A password must not consist of the person's names, username or e-mail address, or the school's name",
    ],
    [`${password}\n`, 999_999_999, 'Course user not found'],
  ] as const) {
    const refused = await set(input, user);
    expect([refused.code, refused.stderr.trim()]).toEqual([1, `error: ${error}`]);
  }
  expect((await request(me, password)).json()).toMatchObject({ valid: true });
});
