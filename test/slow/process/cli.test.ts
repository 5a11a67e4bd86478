import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  asAdmin,
  createProvider as providerIn,
  openTestDatabase,
  openTestApp,
  send,
  type TestApp,
} from '../../support/test-app.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { runCli, startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { afterAll, inject } from 'vitest';

let testApp: TestApp;
const name = `booking_cli_${process.pid}`;
const env = { DATABASE_URL: '', PUBLIC_URL: 'https://booking.example' };
const run = (...args: string[]) => runCli(args, env);

beforeAll(async () => {
  await asAdmin(`create database ${name} template ${inject('template')} strategy file_copy`);
  env.DATABASE_URL = databaseUrl(name);
  testApp = await openTestApp(openTestDatabase(name));
});
afterAll(async () => {
  await testApp.close();
  await asAdmin(`drop database if exists ${name} with (force)`);
});
const status = async (key: string, url = '/v2/schools') =>
  (await send(testApp.app, { url, headers: { 'x-api-key': key } })).status;

test('--version prints the release and the commit that was built', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const commit = readFileSync('dist/commit', 'utf8').trim();
  expect(commit).toMatch(/^([0-9a-f]{7,40}|unknown)$/);
  const expected = commit === 'unknown' ? version : `${version} (commit ${commit})`;
  expect(await runCli(['--version'], {})).toMatchObject({ code: 0, stdout: `${expected}\n` });
});

test('provider create prints the id and the key once, with an example command', async () => {
  const created = await run('provider', 'create', '--title', '  Øystese kurs ', '--json');
  expect(created.stdout.trim().split('\n')).toHaveLength(1);
  expect(created.json()).toEqual({
    provider_id: expect.any(Number) as number,
    api_key: expect.stringMatching(/^cbs_/) as string,
  });
  expect(await status(created.json().api_key)).toBe(200);

  const text = await run('provider', 'create', '--title', 'In words');
  const key = /key (cbs_\S+)/.exec(text.stdout)![1]!;
  expect(text.stdout).toContain(`curl -H 'X-API-Key: ${key}' https://booking.example/v2/schools`);

  const child = await run(
    'provider',
    'create',
    '--title',
    'Child',
    '--parent',
    String(created.json().provider_id),
    '--json',
  );
  const listed = (await run('provider', 'list', '--json')).json<
    { provider_id: number; title: string; parent_id: number | null; created_at: string }[]
  >();
  expect(listed.find(({ title }) => title === 'Child')).toEqual({
    provider_id: child.json().provider_id,
    title: 'Child',
    parent_id: created.json().provider_id,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/) as string,
    closed_at: null,
    is_deleted: false,
  });
  expect(listed[0]!.title).toBe('Øystese kurs');
  expect((await run('provider', 'create', '--title', 'A\r\nX-EVIL:1\u2028B')).code).toBe(0);
  expect((await run('provider', 'list')).stdout).toContain(' A X-EVIL:1 B ');
  expect(listed.map(({ provider_id }) => provider_id)).toEqual(
    listed.map(({ provider_id }) => provider_id).sort((a, b) => a - b),
  );
});

test('provider create makes at most 50 sub-schools, and none below a sub-school', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const create = (parent: number) =>
    run('provider', 'create', '--title', 'Below', '--parent', String(parent), '--json');
  for (let count = 1; count < 50; count += 1) await me.post('/schools', minimalSchool);
  const created = await create(me.id);
  expect(created.code).toBe(0);
  expect(await create(me.id)).toMatchObject({ code: 1, stderr: 'error: A school has at most 50 sub-schools\n' });
  expect(await create(created.json().provider_id)).toMatchObject({
    code: 1,
    stderr: 'error: A sub-school cannot have sub-schools\n',
  });
  expect((await run('provider', 'close', String(created.json().provider_id))).code).toBe(0);
  expect((await create(me.id)).code).toBe(0);
});

test('provider close disables its keys until provider open', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  expect((await run('provider', 'close', String(me.id), '--json')).json()).toEqual({
    provider_id: me.id,
    state: 'closed',
  });
  expect((await me.get('/v2/schools')).status).toBe(401);
  expect((await run('provider', 'close', String(me.id))).code).toBe(0);
  expect((await run('provider', 'open', String(me.id))).stdout).toContain(`Provider ${me.id} is open`);
  expect((await me.get('/v2/schools')).status).toBe(200);
  expect((await run('provider', 'close', '999999999')).code).toBe(1);
});

test('keys are created, listed without the secret, and revoked immediately', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const created = await run(
    'key',
    'create',
    '--provider',
    String(me.id),
    '--label',
    'website',
    '--expires',
    '2999-01-31',
    '--json',
  );
  expect(created.json()).toEqual({
    key_id: expect.any(Number) as number,
    api_key: expect.stringMatching(/^cbs_/) as string,
  });
  expect(await status(created.json().api_key)).toBe(200);

  const listed = await run('key', 'list', '--provider', String(me.id), '--json');
  expect(listed.json()).toMatchObject([
    { label: 'first key' },
    { key_id: created.json().key_id, label: 'website', expires_at: '2999-01-31T00:00:00+01:00', revoked_at: null },
  ]);
  expect(listed.stdout).not.toContain('cbs_');

  expect((await run('key', 'revoke', String(created.json().key_id))).code).toBe(0);
  expect(await status(created.json().api_key)).toBe(401);
});

test('a key has a profile and origins, and is rotated with an overlap', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const provider = ['--provider', String(me.id)];
  const origins = 'https://a.example,http://localhost:8080';
  const options = ['--profile', 'publishable', '--origins', origins, '--label', 'web', '--json'];
  const created = (await run('key', 'create', ...provider, ...options)).json<{ key_id: number; api_key: string }>();
  const rotated = await run('key', 'rotate', String(created.key_id), '--overlap', '2h', '--json');
  const { key_id, api_key, ...old } = rotated.json<{ key_id: number; api_key: string }>();
  expect(old).toEqual({
    ...{ provider_id: me.id, old_key_id: created.key_id },
    old_expires_at: expect.stringMatching(/^20\d\d-.*\+0[12]:00$/),
  });
  expect([await status(created.api_key), await status(api_key)]).toEqual([200, 200]);
  const listed = (await run('key', 'list', ...provider, '--json')).json<object[]>();
  const like = { label: 'web', profile: 'publishable', origins: origins.split(',') };
  expect(listed).toMatchObject([
    { label: 'first key', profile: 'full', origins: null },
    { ...like, key_id: created.key_id },
    { ...like, key_id, expires_at: null },
  ]);
  const text = (await run('key', 'list', ...provider)).stdout;
  expect(text).toContain('publishable');
  expect(text).toContain(origins);
  const printed = (await run('key', 'rotate', String(key_id))).stdout;
  expect(printed).toMatch(/^Key \d+ of provider \d+: cbs_\S+\nIt is printed only once\. Key \d+ expires at 20\S+\.\n$/);
});

test('creating an already expired key prints a warning', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const created = await run('key', 'create', '--provider', String(me.id), '--expires', '2020-01-01');
  expect(created.stdout).toContain('It has already expired');
  expect(await status(/cbs_\S+/.exec(created.stdout)![0])).toBe(401);
  const lasting = await run('key', 'create', '--provider', String(me.id), '--expires', '2999-01-01');
  expect(lasting.stdout).not.toContain('expired');
});

test('partners are approved, listed and revoked', async () => {
  const [a, b] = [await providerIn(testApp.app, testApp.database), await providerIn(testApp.app, testApp.database)];
  const pair = ['--provider', String(a.id), '--partner', String(b.id)];
  const listing = async () => (await a.get(`/v2/courses?partner_id=${b.id}`)).status;
  expect(await listing()).toBe(403);
  expect((await run('partner', 'approve', ...pair, '--json')).json()).toEqual({
    provider_id: a.id,
    partner_id: b.id,
    status: 'approved',
  });
  expect(await listing()).toBe(200);
  expect((await b.get(`/v2/courses?partner_id=${a.id}`)).status).toBe(403);
  expect((await run('partner', 'list', '--json')).json()).toContainEqual({
    provider_id: a.id,
    partner_id: b.id,
    status: 'approved',
  });
  await run('partner', 'revoke', ...pair);
  expect(await listing()).toBe(403);
});

test('categorizing a course changes its URL and timestamps', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const course = String(await me.course({ title: 'Bread' }));
  const parent = (await run('category', 'add', '--title', 'Food and drink', '--json')).json().category_id as number;
  const category = (await run('category', 'add', '--title', 'Baking', '--parent', String(parent), '--json')).json()
    .category_id as number;
  expect((await run('category', 'list', '--json')).json()).toContainEqual({
    category_id: category,
    title: 'Baking',
    slug: 'baking',
    parent_id: parent,
  });

  const before = (await me.get('/v2/courses?updated_at_min=2020-01-01')).headers['x-updated-through'];
  const categorize = () =>
    run('course', 'categorize', '--provider', String(me.id), '--course', course, '--category', String(category));
  expect((await categorize()).code).toBe(0);
  const changed = (await me.get(`/v2/courses?updated_at_min=${encodeURIComponent(String(before))}`)).json();
  expect(changed).toMatchObject([
    {
      categories: [{ id: category, title: 'Baking', idParent: parent, titleParent: 'Food and drink' }],
      catalog_url: 'https://catalog.example/baking/bread',
    },
  ]);
  expect((await categorize()).code).toBe(0);
  expect((await me.get('/v2/courses')).json()).toEqual(changed);
});

test.each([
  [['provider', 'create', '--title', 'X', '--parent', '999999'], 'error: Parent provider not found'],
  [['key', 'create', '--provider', '999999'], 'error: Provider 999999 not found'],
  [['key', 'revoke', '999999'], 'error: Key not found'],
  [['key', 'rotate', '999999'], 'error: Key not found'],
  [['partner', 'revoke', '--provider', '999998', '--partner', '999999'], 'error: Partner connection not found'],
  [
    ['partner', 'approve', '--provider', '999999', '--partner', '999999'],
    'error: A provider cannot be its own partner',
  ],
  [['course', 'categorize', '--provider', '1', '--course', '999999', '--category', '1'], 'error: Course not found'],
])('%j fails with 1 and one line', async (args, said) => {
  await run('provider', 'create', '--title', 'Somebody');
  expect(await run(...args)).toMatchObject({ code: 1, stdout: '', stderr: `${said}\n` });
});

test.each([
  [['provider', 'create'], "error: required option '--title <title>' not specified"],
  [
    ['provider', 'create', '--title', ' '],
    "error: option '--title <title>' argument ' ' is invalid. It must have 1 to 255 characters.",
  ],
  [
    ['key', 'list', '--provider', 'x'],
    "error: option '--provider <id>' argument 'x' is invalid. It must be an id, a whole number from 1.",
  ],
  [
    ['key', 'create', '--provider', '1', '--expires', 'tomorrow'],
    "error: option '--expires <date>' argument 'tomorrow' is invalid. It must be a date such as 2027-01-31 or 2027-01-31 12:00:00.",
  ],
  [
    ['key', 'create', '--provider', '1', '--profile', 'all'],
    "error: option '--profile <profile>' argument 'all' is invalid. Allowed choices are full, read, booking, publishable.",
  ],
  [
    ['key', 'create', '--provider', '1', '--origins', 'https://a.example'],
    'error: --origins is for --profile publishable',
  ],
  ...[
    'https://a.example/',
    'a.example',
    'https://A.example',
    'https://a.example:443',
    '*',
    'null',
    'ftp://a.example',
  ].map((origin): [string[], string] => [
    ['key', 'create', '--provider', '1', '--profile', 'publishable', '--origins', origin],
    `error: option '--origins <origins>' argument '${origin}' is invalid. It must be like https://a.example,https://b.example:8443 and not ${origin}.`,
  ]),
  ...['1', '24', 'h', '-1h', '1.5h', '91d', '2161h', '24 h'].map((overlap): [string[], string] => [
    ['key', 'rotate', '1', `--overlap=${overlap}`],
    `error: option '--overlap <duration>' argument '${overlap}' is invalid. It must be like 30m, 24h or 7d, at most 90d.`,
  ]),
  ...[
    ['--export', 'a.ndjson', '--no-export'],
    ['--no-export', '--export', 'a.ndjson'],
  ].map((both): [string[], string] => [
    ['provider', 'delete', '1', '--yes', ...both],
    'error: specify either --export or --no-export',
  ]),
  [['nonsense'], "error: unknown command 'nonsense'"],
  [['provider', 'list', '--nonsense'], "error: unknown option '--nonsense'"],
])('%j fails with exit code 2 for wrong usage', async (args, said) => {
  expect(await run(...args)).toMatchObject({ code: 2, stdout: '', stderr: `${said}\n` });
});

test('every command has --help with exit code 0; a group alone is wrong usage', async () => {
  for (const args of [
    [],
    ['provider'],
    ['provider', 'create'],
    ['key', 'revoke'],
    ['category', 'add'],
    ['migrate'],
    ['doctor'],
  ]) {
    expect(await run(...args, '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: cli') as string,
      stderr: '',
    });
  }
  for (const group of [[], ['provider']]) {
    expect(await run(...group)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: missing command; --help lists them\n',
    });
  }
});

test('an unreachable database prints one line', async () => {
  const failed = await runCli(['migrate'], {
    DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none',
  });
  expect(failed).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: the database cannot be reached (ECONNREFUSED)\n',
  });
});

test('migrating twice changes nothing', async () => {
  expect(await run('migrate', '--json')).toMatchObject({ code: 0, stdout: '{"applied":0}\n' });
});

test('provider host sets and removes the host name of a catalog', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const host = (...args: string[]) => run('provider', 'host', String(me.id), ...args);
  const read = async () => (await me.get('/v2/catalog-settings')).json<{ host: string | null }>().host;
  const name = `courses-${me.id}.example.com`;
  expect((await host(name, '--json')).json()).toEqual({ provider_id: me.id, host: name });
  expect(await read()).toBe(name);
  for (const args of [[], [name, '--none']])
    expect(await host(...args)).toMatchObject({ code: 1, stderr: 'error: Name a host name, or --none\n' });
  expect(await host('Courses.Example')).toMatchObject({ code: 2, stdout: '' });
  expect(await host('booking.example')).toMatchObject({
    code: 1,
    stderr: 'error: The host name is that of PUBLIC_URL\n',
  });
  expect(await read()).toBe(name);
  expect((await host('--none')).stdout).toBe(`The catalog host of provider ${me.id}: none\n`);
  expect(await read()).toBeNull();
});

test('only commands that initialise data create the embedded database', async () => {
  const folder = temporaryFolder();
  const own = { DATA_DIR: join(folder, 'nowhere') };
  const provider = ['--provider', '1'];
  for (const args of [
    ...[['doctor'], ['provider', 'list'], ['key', 'list', ...provider], ['key', 'revoke', '1'], ['partner', 'list']],
    ...[
      ['category', 'add', '--title', 'X'],
      ['import', 'package.json', ...provider],
      ['export', ...provider],
    ],
  ]) {
    expect(await runCli(args, own)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: there is no database under ${own.DATA_DIR}: start the server once, or set DATA_DIR or DATABASE_URL\n`,
    });
  }
  expect(readdirSync(folder)).toEqual([]);
  expect((await runCli(['migrate'], own)).code).toBe(0);
  expect(await runCli(['doctor'], own)).toMatchObject({ code: 0 });
});

test('the CLI works with the embedded database without, beside and after a server', async () => {
  const own = { DATA_DIR: temporaryFolder() };
  const before = (await runCli(['provider', 'create', '--title', 'Before', '--json'], own)).json();
  const server = await startServer(own);
  const get = async (key: string) =>
    (await fetch(`${server.url}/v2/schools`, { headers: { 'x-api-key': key } })).status;
  const beside = (await runCli(['provider', 'create', '--title', 'Beside', '--json'], own)).json();
  expect([await get(before.api_key), await get(beside.api_key)]).toEqual([200, 200]);
  server.child.kill('SIGTERM');
  await server.ended;
  const titles = (await runCli(['provider', 'list', '--json'], own))
    .json<{ title: string }[]>()
    .map(({ title }) => title);
  expect(titles).toEqual(['Before', 'Beside']);
});
