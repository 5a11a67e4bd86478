import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { runCli, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { schoolFile } from '../../support/import-file.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const run = (...args: string[]) => runCli(args, { DATABASE_URL: databaseUrl(inject('shared')) });
const allow = ['--allow', 'partners,categories'];
const lines = (objects: object[]) => objects.map((object) => `${JSON.stringify(object)}\n`).join('');

test('a file is imported, exported readable by its owner only, and imported into another provider', async () => {
  const testApp = await sharedTestApp();
  const [me, copy, partner] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  const folder = temporaryFolder();
  const [file, out] = [join(folder, 'school.ndjson'), join(folder, 'out.ndjson')];
  writeFileSync(file, lines(schoolFile(partner.id)));

  const dry = await run('import', file, '--provider', String(me.id), ...allow, '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([0, '47 lines valid, 0 of them already imported; nothing was written\n']);
  const first = await run('import', file, '--provider', String(me.id), ...allow);
  expect([first.code, first.stdout, first.stderr]).toEqual([0, '47 lines written, 0 already imported\n', '']);
  const again = await run('import', file, '--provider', String(me.id), ...allow, '--json');
  expect([again.code, again.json()]).toEqual([0, { read: 47, known: 47, written: 0, bad: 0 }]);

  const written = await run('export', out, '--provider', String(me.id));
  expect([written.code, written.stdout]).toEqual([
    0,
    `46 lines written to ${out}, readable only by its owner, because it may contain password hashes\n`,
  ]);
  expect((statSync(out).mode & 0o777).toString(8)).toBe('600');
  expect(readFileSync(out, 'utf8').split('\n')).toHaveLength(47);
  const over = await run('export', out, '--provider', String(me.id));
  expect([over.code, over.stderr]).toEqual([1, `error: ${out} already exists and is not overwritten\n`]);
  const nowhere = await run('export', join(folder, 'none/out.ndjson'), '--provider', String(me.id));
  expect([nowhere.code, nowhere.stderr]).toEqual([1, `error: ${folder}/none/out.ndjson cannot be written (ENOENT)\n`]);

  expect((await run('import', out, '--provider', String(copy.id), ...allow, '--json')).json()).toMatchObject({
    written: 46,
  });
  const count = async (key: { get: (url: string) => Promise<{ json: <T>() => T }> }) =>
    (await key.get('/v2/participants')).json<unknown[]>().length;
  expect(await count(copy)).toBe(await count(me));
});

const form = '(expected one object a line such as {"kind":"tag","ref":"t1","title":"Evening"})';

test('invalid lines are printed to stderr in order and the exit code is 1', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const file = join(temporaryFolder(), 'bad.ndjson');
  const good = { kind: 'tag', ref: 't', title: 'Tag' };
  const bytes = Buffer.concat([
    Buffer.from(`${JSON.stringify(good)}\r\n\r\n{"kind":\n[1]\n`),
    Buffer.from([0x22, 0xff, 0x22, 0x0a]),
    Buffer.from(`{"kind":"tag","ref":"p","title":"x","__proto__":{"a":1}}\n`),
    Buffer.from(`${JSON.stringify({ kind: 'tag', ref: 'long', title: 'x'.repeat(1_048_576) })}\n`),
    // Without a trailing newline.
    Buffer.from(JSON.stringify({ kind: 'label', ref: 'l' })),
  ]);
  writeFileSync(file, bytes);
  const { code, stdout, stderr } = await run('import', file, '--provider', String(me.id));
  expect(stderr.split('\n')).toEqual([
    `line 3: The line is not a JSON object ${form}`,
    `line 4: The line is not a JSON object ${form}`,
    'line 5: The line is not UTF-8',
    `line 6: The line is not a JSON object ${form}`,
    'line 7: The line is longer than 1048576 bytes',
    'line 8: Missing field(s): title (expected title: text of 1 to 255 characters)',
    'error: 6 of 7 lines invalid; nothing was written',
    '',
  ]);
  expect([code, stdout]).toEqual([1, '']);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});

test('locations, customers and course users can be imported and exported as CSV', async () => {
  const testApp = await sharedTestApp();
  const [me, copy] = [await testApp.createProvider(), await testApp.createProvider()];
  const folder = temporaryFolder();
  const provider = ['--provider', String(me.id)];
  const customers = join(folder, 'customers.csv');
  writeFileSync(
    customers,
    '\ufeffref,title,type,email,note,custom_properties\r\n' +
      'c1,"Fjord, ""Berg"" & Co",1,post@fjord.example,"two\nlines","{""segment"":""A""}"\r\n' +
      'c2,Åse Ø,2,,,\r\n',
  );
  const users = join(folder, 'users.CSV');
  writeFileSync(users, 'ref,username,lastname,customer_id,date_of_birth\nu1,per,Hansen,c1,1980-01-02\n');
  const locations = join(folder, 'locations.csv');
  writeFileSync(locations, 'ref,title,capacity_max,is_virtual,lat\nl1,Hall,12,no,60.5\nl2,Web,,yes,\n');
  for (const [file, kind] of [
    [customers, 'customer'],
    [users, 'user'],
    [locations, 'location'],
  ] as const) {
    const { code, stderr } = await run('import', file, '--kind', kind, ...provider);
    expect([code, stderr]).toEqual([0, '']);
  }
  const [user] = (await me.get('/v2/search-users?username=per')).json();
  expect(user).toMatchObject({
    date_of_birth: '1980-01-02',
    customer: {
      title: 'Fjord, "Berg" & Co',
      type: 'Company',
      note: 'two\nlines',
      custom_properties: { segment: 'A' },
    },
  });
  expect((await me.get('/v2/locations')).json()).toMatchObject([
    { title: 'Hall', capacity_max: 12, is_virtual: false, lat: 60.5 },
    { title: 'Web', capacity_max: 0, is_virtual: true, lat: 0 },
  ]);

  const out = join(folder, 'out.csv');
  expect((await run('export', out, '--kind', 'customer', ...provider)).code).toBe(0);
  expect((statSync(out).mode & 0o777).toString(8)).toBe('600');
  const [header, ...rest] = readFileSync(out, 'utf8').split('\n');
  expect(header).toMatch(/^\ufeffref,title,department,type,/);
  expect(rest.join('\n')).toContain('"Fjord, ""Berg"" & Co"');
  const back = await run('import', out, '--kind', 'customer', '--provider', String(copy.id), '--json');
  expect([back.stderr, back.json()]).toEqual(['', { read: 2, known: 0, written: 2, bad: 0 }]);
});

test('an unterminated quote and an invalid CSV record are reported by line', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const file = join(temporaryFolder(), 'bad.csv');
  writeFileSync(file, 'ref,title,type\na,Good,1\nb,Bad,7\nb2,Short\nb3,Long,1,2\nc,"never closed,1\n');
  const { code, stderr } = await run('import', file, '--kind', 'customer', '--provider', String(me.id));
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^line 3: Field\(s\) not valid: type \(expected type: [^\n]+\)\nline 4: The record has 2 fields, not 3 \(expected ref,title,type\)\nline 5: The record has 4 fields, not 3 \(expected ref,title,type\)\nline \d: The file is not CSV from here on: .*\nerror: 4 of 5 lines invalid; nothing was written\n$/,
  );
});

test.each([
  [['import', 'nowhere.ndjson', '--provider', '1'], 'File not found: nowhere.ndjson'],
  [['import', 'x.csv', '--provider', '1'], 'A .csv file needs --kind'],
  [
    ['import', 'x.ndjson', '--kind', 'user', '--provider', '1'],
    '--kind is only for .csv files; JSON lines contain their kind',
  ],
  [['import', 'test', '--provider', '1'], 'EISDIR: illegal operation on a directory, read'],
  [['import', 'package.json', '--provider', '999999'], 'Provider 999999 not found'],
  [['export', 'never-written.ndjson', '--provider', '999999'], 'Provider 999999 not found'],
])('%j fails with one line', async (args, message) => {
  const { code, stderr } = await run(...args);
  expect([code, stderr]).toEqual([1, `error: ${message}\n`]);
});

test('partners and categories in a file require --allow; without it nothing is written', async () => {
  const testApp = await sharedTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const file = join(temporaryFolder(), 'beyond.ndjson');
  const category = { kind: 'category', ref: 'c', title: 'Own', slug: `own-${me.id}` };
  const partner = { kind: 'partner', ref: 'p', partner_id: other.id, status: 'approved' };
  writeFileSync(file, lines([category, partner, { kind: 'location', ref: 'l', title: 'Hall' }]));
  const refused = await run('import', file, '--provider', String(me.id), '--allow', 'partners');
  expect([refused.code, refused.stderr]).toEqual([
    1,
    'line 1: Not allowed: it changes categories outside the provider; use --allow categories\n' +
      'error: 1 of 3 lines invalid; nothing was written\n',
  ]);
  expect((await me.get('/v2/locations')).json()).toEqual([]);
  expect((await run('import', file, '--provider', String(me.id))).stderr).toMatch(
    /^line 1.*\nline 2: .*--allow partners\n/,
  );
  expect((await run('import', file, '--provider', String(me.id), ...allow)).code).toBe(0);
});

test('an invalid line is reported with the expected format of each field', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const file = join(temporaryFolder(), 'forms.ndjson');
  const date = { kind: 'coursedate', course_id: 'c', start_at: '2030-01-01', end_at: '2030-01-02' };
  const gathering = { gathering_at: '2030-02-01 09:00', gathering_end_at: '2030-02-01 08:00' };
  const bad: [line: object, message: string][] = [
    [
      { kind: 'course', ref: 'c', title: 'x', level: 99 },
      'Field(s) not valid: level (expected level: one of 1, 2, 3, ',
    ],
    [{ kind: 'course', ref: 'c2', titel: 'x' }, 'Unknown field(s): titel (expected kind, ref, title, '],
    [{ ...date, ref: '1', end_at: '31.12.2030' }, 'end_at (expected end_at: a day such as 2026-12-31)'],
    [
      { ...date, ref: '2', end_at: '2029-12-31', deadline_at: '2029-01-01' },
      'end_at (expected end_at: no earlier than start_at, with start_time_at and end_time_at)',
    ],
    [{ ...date, ref: '3', timezone: 'Europe/Olso' }, '(expected timezone: an IANA time zone such as Europe/Oslo)'],
    [
      { ...date, ref: '4', gatherings: [gathering] },
      '(expected gatherings[0].gathering_end_at: later than gathering_at in the time zone of the course date, and',
    ],
    [
      { ...date, ref: '5', gatherings: [{ gathering_at: '2030-02-01 09:00' }] },
      '(expected gatherings[0].gathering_end_at: a day and time such as 2026-12-31 09:00)',
    ],
    [
      { kind: 'user', ref: 'u' },
      'Missing field(s): username (expected username: a username, or an email in its place)',
    ],
    [{ kind: 'user', ref: 'u2', username: 'u2', email: 'at home' }, '(expected email: an e-mail address)'],
    [{ kind: 'voucher', ref: 'v', code: 'V', amount: '1,50' }, '(expected amount: an amount such as 100.50)'],
    [
      { kind: 'campaign', ref: 'm', discount_type: 'half', discount_value: 1 },
      '(expected discount_type: one of Percent, ',
    ],
    [{ kind: 'tag', ref: 't', title: ['x'] }, '(expected title: text of 1 to 255 characters)'],
  ];
  writeFileSync(file, lines(bad.map(([line]) => line)));
  const { stderr } = await run('import', file, '--provider', String(me.id));
  expect(stderr.split('\n').slice(0, bad.length)).toEqual(
    bad.map(([, reported], n) =>
      expect.stringMatching(new RegExp(`^line ${n + 1}: .*${reported.replaceAll(/[()[\]]/g, '\\$&')}`)),
    ),
  );
});

test('after 50 invalid lines the rest is only counted', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const file = join(temporaryFolder(), 'many.ndjson');
  writeFileSync(file, '[]\n'.repeat(720));
  const { stderr } = await run('import', file, '--provider', String(me.id));
  expect(stderr.split('\n').slice(49)).toEqual([
    `line 50: The line is not a JSON object ${form}`,
    'and 670 more',
    'error: 720 of 720 lines invalid; nothing was written',
    '',
  ]);
});
