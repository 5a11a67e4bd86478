import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { verifyBackup } from '../../../src/plugins/backup/read.ts';
import { asAdmin, connectionTo, ownDatabase } from '../../support/test-app.ts';
import { fastMinutes } from '../../support/fast-minutes.ts';
import { databaseUrl, findProcessesByArgument, runCli, startServer, temporaryFolder } from '../../support/processes.ts';
import { onTestFinished } from 'vitest';

const keyOf = (DATA_DIR: string) => readFileSync(join(DATA_DIR, 'demo-api-key'), 'utf8').trim();
const get = (url: string, key = '') => fetch(url, { headers: { 'x-api-key': key } });

test('the first start prints a working command; the second start uses the same key, and makes the backup of the night', async () => {
  const DATA_DIR = temporaryFolder();
  const first = await startServer({ DATA_DIR, LOG_FORMAT: 'pretty' });
  const key = keyOf(DATA_DIR);
  expect(first.output()).toContain(`API key of the demo school: ${key}\n`);
  expect(first.output()).toMatch(/Its public catalog: http:\/\/\S+\/catalog\/fjordkurs-bergen\n/);
  expect(statSync(join(DATA_DIR, 'demo-api-key')).mode & 0o777).toBe(0o600);

  // The last line of the welcome text; log lines follow.
  const said = first.output().trim().split('\n');
  const pasted = said.findLast((line) => line.startsWith('  '))!.trim();
  expect(pasted).toMatch(/^curl -H 'X-API-Key: cbs_/);
  const response = JSON.parse(execFileSync('sh', ['-c', `${pasted} -s`], { encoding: 'utf8' })) as unknown[];
  expect(response).toHaveLength(3);
  const courses = (await (await get(`${first.url}/v2/courses?paginate=1&limit=1`, key)).json()) as {
    pagination: object;
  };
  expect(courses.pagination).toMatchObject({ total_items: 40 });

  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(findProcessesByArgument(DATA_DIR)).toEqual([]);

  const second = await startServer({ DATA_DIR }, [process.execPath, ...fastMinutes, 'dist/main.js']);
  expect(keyOf(DATA_DIR)).toBe(key);
  expect(second.output()).not.toContain('Loaded the demo data');
  // Without a terminal each line is a log record; none contains a key.
  const messages = second
    .output()
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages).toContain(`The API key of the demo school is in ${join(DATA_DIR, 'demo-api-key')}`);
  expect(messages).toContain(`The public catalog of the demo school is at ${second.url}/catalog/fjordkurs-bergen`);
  expect(messages).toContain(`Course Booking Service is running at ${second.url}`);
  expect(second.output()).not.toContain(key);
  expect((await get(`${second.url}/v2/schools`, key)).status).toBe(200);
  await expect.poll(second.output).toContain('Made and verified the nightly backup');
  const [backup, ...others] = readdirSync(join(DATA_DIR, 'backups'));
  expect([backup, others]).toEqual([expect.stringMatching(/^booking-nightly-.*\.zip$/), ['erasures.jsonl']]);
  await verifyBackup(join(DATA_DIR, 'backups', backup!));
  second.child.kill('SIGINT');
  // npm forwards the same key press a second time.
  second.child.kill('SIGINT');
  expect(await second.ended).toBe(0);
  expect(findProcessesByArgument(DATA_DIR)).toEqual([]);
});

test('SIGTERM to npm reaches the server', async () => {
  const DATA_DIR = temporaryFolder();
  const server = await startServer({ DATA_DIR }, ['npm', 'start']);
  server.child.kill('SIGTERM');
  await server.ended;
  await expect.poll(() => findProcessesByArgument(DATA_DIR), { timeout: 60_000 }).toEqual([]);
  await expect(get(`${server.url}/live`)).rejects.toThrow();
});

test('after kill -9 no process is left and the next start recovers', async () => {
  const DATA_DIR = temporaryFolder();
  const first = await startServer({ DATA_DIR });
  const key = keyOf(DATA_DIR);
  await post(first.url, key, 'Kept');
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await startServer({ DATA_DIR });
  const listed = (await (await get(`${second.url}/v2/courses?since_id=40`, key)).json()) as { title: string }[];
  expect(listed.map(({ title }) => title)).toContain('Kept');
  second.child.kill('SIGKILL');
  await second.ended;
  await expect.poll(() => findProcessesByArgument(DATA_DIR), { timeout: 60_000 }).toEqual([]);
});

test('when the embedded database dies the server returns 503 and recovers', async () => {
  const DATA_DIR = temporaryFolder();
  const server = await startServer({ DATA_DIR });
  const key = keyOf(DATA_DIR);
  const postmaster = Number(readFileSync(join(DATA_DIR, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(postmaster, 'SIGKILL');
  const seen = new Set<number>();
  await expect
    .poll(
      async () => {
        const { status, headers } = await get(`${server.url}/v2/schools`, key);
        seen.add(status);
        if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
        return seen.has(503) && status === 200;
      },
      { timeout: 60_000, interval: 20 },
    )
    .toBe(true);
  expect([...seen].sort()).toEqual([200, 503]);
  expect((await get(`${server.url}/live`)).status).toBe(200);
});

test('SIGTERM finishes the request in flight', async () => {
  const database = await ownDatabase();
  const key = 'k'.repeat(40);
  const server = await startServer({
    DATABASE_URL: databaseUrl(database),
    BOOTSTRAP_API_KEY: key,
    BOOTSTRAP_PROVIDER: 'First',
  });
  const holder = new Client(connectionTo(database));
  // A transaction sees one snapshot of pg_stat_activity.
  const observer = new Client(connectionTo(database));
  await Promise.all([holder.connect(), observer.connect()]);
  await holder.query('begin');
  await holder.query('select * from provider_state for update');
  const slow = post(server.url, key, 'In flight');
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await observer.query(waiting)).rowCount, { timeout: 60_000 }).toBe(1);
  server.child.kill('SIGTERM');
  await expect.poll(() => server.output(), { timeout: 60_000 }).toContain('Stopping (SIGTERM)');
  await holder.query('commit');
  await Promise.all([holder.end(), observer.end()]);
  expect((await slow).status).toBe(201);
  expect(await server.ended).toBe(0);
});

test('with DATABASE_URL no embedded database starts and no demo data is loaded', async () => {
  const DATA_DIR = join(temporaryFolder(), 'data');
  const key = 'chosen-by-the-operator-0123456789';
  const env = {
    DATABASE_URL: databaseUrl(await ownDatabase()),
    DATA_DIR,
    BOOTSTRAP_API_KEY: key,
    BOOTSTRAP_PROVIDER: 'First school',
  };
  const server = await startServer(env);
  expect(existsSync(DATA_DIR)).toBe(false);
  expect(await (await get(`${server.url}/v2/schools`, key)).json()).toMatchObject({
    school: { title: 'First school' },
  });
  expect(server.output() + server.errors()).not.toContain(key);
  const again = await startServer({ ...env, BOOTSTRAP_PROVIDER: 'Another' });
  expect(await (await get(`${again.url}/v2/schools`, key)).json()).toMatchObject({ school: { title: 'First school' } });
});

test('/ready fails until the command line has migrated', async () => {
  const name = `booking_bare_${process.pid}`;
  await asAdmin(`create database ${name}`);
  onTestFinished(() => asAdmin(`drop database if exists ${name} with (force)`));
  const env = { DATABASE_URL: databaseUrl(name) };
  const server = await startServer({ ...env, MIGRATE_ON_START: 'false' });
  const ready = await get(`${server.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'not ready', reason: 'the database is not migrated' },
  ]);
  expect((await runCli(['provider', 'list'], env)).stderr).toBe(
    'error: The database is not migrated yet: run `migrate`\n',
  );
  expect(await runCli(['migrate'], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Applied') as string,
  });
  expect(await (await get(`${server.url}/ready`)).json()).toEqual({ status: 'ready' });
});

test('several servers at once on one empty folder load the demo data once', async () => {
  const DATA_DIR = temporaryFolder();
  const servers = await Promise.all([startServer({ DATA_DIR }), startServer({ DATA_DIR }), startServer({ DATA_DIR })]);
  const loaded = servers.filter((server) => server.output().includes('Loaded the demo data'));
  expect(loaded).toHaveLength(1);
  const key = keyOf(DATA_DIR);
  for (const server of servers) expect((await get(`${server.url}/v2/schools`, key)).status).toBe(200);
  const { stdout } = await runCli(['provider', 'list', '--json'], { DATA_DIR });
  expect(JSON.parse(stdout)).toHaveLength(5);
});

test.each([
  [{ BOOTSTRAP_API_KEY: 'short-secret', BOOTSTRAP_PROVIDER: 'X' }, 'BOOTSTRAP_API_KEY must have 32 to 255 characters'],
  [{ BOOTSTRAP_API_KEY: 'x'.repeat(32) }, 'BOOTSTRAP_API_KEY and BOOTSTRAP_PROVIDER go together'],
  [{ PORT: 'x' }, 'PORT must be a whole number from 0 to 65535, not "x"'],
  [{ TIMEZONE: 'Mars/Olympus' }, 'TIMEZONE must be an IANA name'],
  [{ DATABASE_URL: 'mysql://user:secret@host/x' }, 'DATABASE_URL must begin with postgres://'],
  [{ PUBLIC_URL: 'ftp://user:secret@host' }, 'PUBLIC_URL must be an http or https address'],
  [{ PUBLIC_URL: 'https://x.example/?secret' }, 'PUBLIC_URL must be an http or https address without ? and #'],
])('%j is rejected in one line without secrets', async (env, said) => {
  const server = await startServer({ DATA_DIR: temporaryFolder(), ...env });
  expect(await server.ended).toBe(1);
  expect(server.errors()).toContain(said);
  expect(server.errors().trim().split('\n')).toHaveLength(1);
  expect(server.errors()).not.toContain('secret');
});

test('with LOG_FORMAT=json a failing start writes one JSON line', async () => {
  for (const [env, msg] of [
    [{ DATABASE_URL: 'mysql://host/x' }, 'DATABASE_URL must begin with postgres://'],
    [
      { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
      'The server could not start: the database cannot be reached (ECONNREFUSED)',
    ],
  ] as const) {
    const server = await startServer({ DATA_DIR: temporaryFolder(), LOG_FORMAT: 'json', ...env });
    expect(await server.ended).toBe(1);
    const [line, ...more] = server.errors().trim().split('\n');
    expect(more).toEqual([]);
    expect(JSON.parse(line!)).toEqual({
      level: 60,
      time: expect.any(Number) as number,
      msg: expect.stringContaining(msg) as string,
    });
  }
});

test('a port in use is reported before a database is created', async () => {
  const DATA_DIR = temporaryFolder();
  const first = await startServer({ DATA_DIR: temporaryFolder() });
  const second = await startServer({ DATA_DIR, PORT: String(first.port) });
  expect(await second.ended).toBe(1);
  expect(second.errors()).toBe(`The server could not start: port ${first.port} is in use; set PORT to another one\n`);
  expect(readdirSync(DATA_DIR)).toEqual([]);
  // A service manager may restart it repeatedly, so none of these sends a mail.
  expect([first.output(), second.output()].map((text) => text.includes('Mails go to'))).toEqual([true, false]);
});

async function post(url: string, key: string, title: string) {
  return fetch(`${url}/v2/courses`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: new URLSearchParams({ title }),
  });
}
