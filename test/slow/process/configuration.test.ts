import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedDatabase } from '../../../src/embedded-postgres/index.ts';
import { describeError } from '../../../src/database/describe-error.ts';
import { waitForDatabase } from '../../../src/database/store.ts';
import { readConfig } from '../../support/config.ts';
import { bookingBody } from '../../support/booking.ts';
import { runCli, startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { asAdmin, connectionTo, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const url = 'postgres://booking@localhost/booking';

test.each([
  ['DATABASE_URLL', 'is not known and has no effect'],
  ['SMTP_URL_FILES', 'is not known and has no effect'],
  ['RATE_LIMIT_SECOND', 'is not known and has no effect'],
  ['EMBEDDED_DATABASE', 'has no effect any more: in production set DATABASE_URL=embedded instead'],
  ['TOKENS_RETENTION_DAYS', 'has no effect any more: it is 1 now'],
  ['DATABASE_CONNECT_TIMEOUT_MS', 'has no effect any more: it is 30000 now'],
])('an unknown variable %s is logged without its value', (name, text) => {
  const { warnings } = readConfig({ DATABASE_URL: url, [name]: 'secret' });
  expect(warnings).toEqual([expect.stringContaining(text)]);
  expect(warnings.join()).toContain(name);
  expect(warnings.join()).not.toContain('secret');
});

test('an error names the unknown variable that may be its cause, without its value', () => {
  const env = { NODE_ENV: 'production', DATABASE_URLL: 'secret' };
  expect(() => readConfig(env)).toThrow(
    /^The environment is not valid: DATABASE_URL is missing; .*\. The variable DATABASE_URLL is not known and has no effect$/,
  );
  expect(() => readConfig(env)).not.toThrow('secret');
});

test.each(['prod', 'Production', 'PRODUCTION', 'production ', 'staging'])('NODE_ENV=%s is refused', (value) => {
  expect(() => readConfig({ DATABASE_URL: url, NODE_ENV: value })).toThrow(
    `NODE_ENV must be one of production, development, test, not ${JSON.stringify(value)}`,
  );
});

test('variables of other programs are not logged', () => {
  const others = ['HOME', 'PATH', 'HOSTNAME', 'PORTS', 'PWD', 'MALLOC_ARENA_MAX', 'DATABASE_PORT_5432_TCP_ADDR'];
  const kubernetes = ['DATABASE_SERVICE_HOST', 'SMTP_SERVICE_PORT', 'npm_config_cache'];
  const env = Object.fromEntries([...others, ...kubernetes].map((name) => [name, 'x']));
  env['DATABASE_PORT'] = 'tcp://10.0.0.1:5432';
  expect(readConfig({ DATABASE_URL: url, ...env }).warnings).toEqual([]);
});

test('secrets are read from files', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'secret');
  writeFileSync(file, `${url}\n`);
  expect(readConfig({ DATABASE_URL_FILE: file }).DATABASE_URL).toBe(url);
  expect(() => readConfig({ DATABASE_URL_FILE: file, DATABASE_URL: url })).toThrow('exclude each other');
  expect(() => readConfig({ DATABASE_URL_FILE: join(folder, 'none') })).toThrow(
    'DATABASE_URL_FILE names a file that cannot be read (ENOENT)',
  );
  writeFileSync(file, '\n');
  expect(() => readConfig({ DATABASE_URL_FILE: file })).toThrow('DATABASE_URL_FILE names an empty file');
  writeFileSync(file, 'x'.repeat(32));
  expect(readConfig({ BOOTSTRAP_API_KEY_FILE: file, BOOTSTRAP_PROVIDER: 'A' }).BOOTSTRAP_API_KEY).toHaveLength(32);
  writeFileSync(file, 'ftp://x');
  expect(() => readConfig({ SMTP_URL_FILE: file })).toThrow(
    'SMTP_URL (from SMTP_URL_FILE) must be an smtp or smtps address',
  );
});

test('production never uses the embedded database or demo data by default', () => {
  const production = { NODE_ENV: 'production' };
  expect(() => readConfig(production)).toThrow('DATABASE_URL is missing; `embedded` is the embedded database');
  const valuesOf = (env: NodeJS.ProcessEnv) => readConfig(env).values;
  expect(valuesOf({ ...production, DATABASE_URL: 'embedded' })).toMatchObject({ DEMO_DATA: false, HOST: '0.0.0.0' });
  expect(valuesOf({ ...production, DATABASE_URL: 'embedded', DEMO_DATA: 'true' })).toMatchObject({
    DEMO_DATA: true,
    HOST: '127.0.0.1',
  });
  expect(valuesOf({})).toMatchObject({ DEMO_DATA: true, HOST: '127.0.0.1' });
  expect(valuesOf({ HOST: '0.0.0.0' })).toMatchObject({ DEMO_DATA: true, HOST: '0.0.0.0' });
  expect(valuesOf({ DATABASE_URL: url })).toMatchObject({ DEMO_DATA: false, HOST: '0.0.0.0' });
});

test.each(['postgres://booking:a/b#c@host/booking', 'postgres://booking:100%@host/booking', 'postgres://host:port/x'])(
  '%s is not valid, and the error names DATABASE_URL',
  (wrong) => expect(() => readConfig({ DATABASE_URL: wrong })).toThrow('DATABASE_URL must be a valid URL'),
);

test('a Unix socket is a valid DATABASE_URL', () => {
  for (const right of ['postgres:///booking?host=/run/postgresql', 'postgres://booking:x@/booking?host=/run'])
    expect(readConfig({ DATABASE_URL: right }).DATABASE_URL).toBe(right);
});

test('an unknown database ends the start without waiting', async () => {
  const env = { DATABASE_URL: databaseUrl('no_such_database') };
  const server = await startServer(env);
  expect(await server.ended).toBe(1);
  expect(server.output() + server.errors()).not.toContain('waiting for it');
  expect(server.errors()).toContain('database "no_such_database" does not exist');
  expect(await runCli(['provider', 'list'], env)).toMatchObject({ code: 1 });
});

test('a wrong password ends a start without waiting', async () => {
  const folder = temporaryFolder();
  const hba_file = join(folder, 'hba.conf');
  writeFileSync(hba_file, 'local all booking trust\nlocal all all scram-sha-256\n');
  const embedded = await openEmbeddedDatabase({ dataDir: join(folder, 'data'), fsync: false, settings: { hba_file } });
  onTestFinished(() => embedded.stop());
  const admin = new Client(embedded.connection);
  await admin.connect();
  await admin.query(`create role other login password 'right'`);
  await admin.end();
  const reach = async (password: string | undefined) => {
    const database = openTestDatabase('postgres', { connection: { ...embedded.connection, user: 'other', password } });
    onTestFinished(() => database.close());
    // Waiting that long would exceed the test timeout.
    return waitForDatabase(database, { waitMs: 3_000_000 }).then(() => 'reached', describeError);
  };
  expect(await reach('right')).toBe('reached');
  expect(await reach('wrong')).toBe('the database reports: password authentication failed for user "other"');
  expect(await reach(undefined)).toBe('the database requires a password; DATABASE_URL has none');
});

test('the server and commands print the warning of an unknown variable', async () => {
  const env = { DATABASE_URL: databaseUrl(await ownDatabase()), DATABASE_URLL: 'secret' };
  const words = 'The variable DATABASE_URLL is not known and has no effect';
  const server = await startServer(env);
  expect(server.output()).toContain(words);
  expect(server.output() + server.errors()).not.toContain('secret');
  expect(await runCli(['provider', 'list'], env)).toMatchObject({ code: 0, stderr: `warning: ${words}\n` });
});

test('an address of another machine is an error that names HOST', async () => {
  const server = await startServer({ DATABASE_URL: databaseUrl(await ownDatabase()), HOST: '192.0.2.1' });
  expect(await server.ended).toBe(1);
  expect(server.errors()).toContain('cannot listen on HOST 192.0.2.1 (EADDRNOTAVAIL)');
  expect(server.errors()).not.toContain('database');
});

test('a missing certificate file is reported at start', async () => {
  const DATABASE_URL = `postgres://booking@localhost/x?sslmode=verify-full&sslrootcert=/no/such.pem`;
  const server = await startServer({ DATABASE_URL });
  expect(await server.ended).toBe(1);
  expect(server.output() + server.errors()).not.toContain('waiting for it');
  expect(server.errors()).toContain('the file /no/such.pem cannot be read (ENOENT)');
});

test('a role with the documented grants can book; without a grant requests get 503', async () => {
  const name = await ownDatabase();
  const role = `runtime_${name}`;
  const owner = new Client(connectionTo(name));
  await owner.connect();
  await asAdmin(`create role ${role} login password 'x'`);
  onTestFinished(async () => {
    await owner.query(`drop owned by ${role}`);
    await owner.end();
    await asAdmin(`drop role ${role}`);
  });
  const { 1: grants } = /```sql\n(grant usage on schema[^`]+)```/.exec(
    readFileSync('docs/operate/operating.md', 'utf8'),
  )!;
  await owner.query(grants!.replaceAll('booking_runtime', role));

  const DATABASE_URL = databaseUrl(name).replace(/\/\/[^@]*@/, `//${role}:x@`);
  const key = 'k'.repeat(40);
  const server = await startServer({
    DATABASE_URL,
    MIGRATE_ON_START: 'false',
    BOOTSTRAP_API_KEY: key,
    BOOTSTRAP_PROVIDER: 'A',
  });
  expect(server.errors()).toBe('');
  const post = async (path: string, body: object) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, any> };
  };
  const course = await post('/v2/courses', { title: 'Role', price_value: 100 });
  expect(course.status).toBe(201);
  const days = { start_at: '2099-05-01', end_at: '2099-05-02' };
  const date = await post(`/v2/courses/${course.body['course_id']}/coursedates`, days);
  expect(date).toMatchObject({ status: 201 });
  expect(await post('/v2/booking', bookingBody(Number(date.body['coursedate_id'])))).toMatchObject({ status: 201 });

  await owner.query(`revoke insert on courses from ${role}`);
  expect((await post('/v2/courses', { title: 'Refused' })).status).toBe(503);
  await expect.poll(() => server.output()).toContain('permission denied for table courses');
});

test('config prints the values in force and their sources, without secrets and without a database', async () => {
  const file = join(temporaryFolder(), 'smtp');
  writeFileSync(file, 'smtps://booking:smtp-secret@mail.example?x=smtp-secret');
  const env = {
    ...{ DATABASE_URL: 'postgres://u:db-secret@db.example:6432/booking?password=db-secret', SMTP_URL_FILE: file },
    ...{ BOOTSTRAP_API_KEY: `key-secret-${'k'.repeat(30)}`, BOOTSTRAP_PROVIDER: 'A' },
    ...{ SHUTDOWN_TIMEOUT_MS: '77', DATABASE_URLS: 'x' },
  };
  const [shown, text] = [await runCli(['config', '--json'], env), await runCli(['config'], env)];
  expect(shown.stdout + text.stdout + shown.stderr + text.stderr).not.toContain('secret');
  const { variables, warnings } = shown.json<{ variables: { name: string }[]; warnings: string[] }>();
  const described = Object.fromEntries(variables.map(({ name, ...rest }) => [name, rest]));
  expect(described).toMatchObject({
    PORT: { value: 3000, source: 'default' },
    HOST: { value: '0.0.0.0', source: 'default' },
    CATALOG_URL: { value: null, source: 'default' },
    PUBLIC_REQUESTS_PER_MINUTE: { value: 1_000_000, source: 'environment' },
    SHUTDOWN_TIMEOUT_MS: { value: 77, source: 'environment' },
    DATABASE_URL: { value: 'postgres://***@db.example:6432/booking?***', source: 'environment' },
    SMTP_URL: { value: 'smtps://***@mail.example?***', source: 'file', from: file },
    BOOTSTRAP_API_KEY: { value: '***', source: 'environment' },
  });
  expect(warnings).toHaveLength(1);
  expect(text.stdout).toMatch(/^SHUTDOWN_TIMEOUT_MS +77 +environment$/m);
  expect(await runCli(['config'], { PORT: 'x' })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: The environment is not valid: PORT must be a whole number from 0 to 65535, not "x"\n',
  });
});
