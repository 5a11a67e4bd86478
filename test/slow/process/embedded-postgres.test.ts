import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import {
  copyProject,
  findPostgresFolder,
  isRoot,
  killAll,
  createDataDir,
  findProcesses,
  removeDataDirs,
  startUser,
} from '../../support/embedded-users.ts';

let used: string[] = [];
let users: ReturnType<typeof startUser>[] = [];

function dataDirOfTest(...names: string[]) {
  const dataDir = createDataDir(...names);
  used.push(dataDir);
  return dataDir;
}

function user(dataDir: string, where?: Parameters<typeof startUser>[1]) {
  const started = startUser(dataDir, where);
  users.push(started);
  return started;
}

async function readyUser(dataDir: string, where?: Parameters<typeof startUser>[1]) {
  const started = user(dataDir, where);
  expect(await started.ready()).toMatchObject({ ready: true });
  return started;
}

/** Generous, for a busy machine. */
const patient = { timeout: 60_000, interval: 20 };
const allGone = (dataDir: string) => vi.waitFor(() => expect(findProcesses(dataDir).all).toEqual([]), patient);

afterEach(async () => {
  await Promise.all(users.map((one) => one.kill().catch(() => undefined)));
  for (const dataDir of used.filter((one) => fs.existsSync(one))) killAll(findProcesses(dataDir).all);
  users = [];
  used = [];
  removeDataDirs();
});

const one = { rows: [{ n: 1 }] };

test('data survives a stop, which leaves no process', async () => {
  const dataDir = dataDirOfTest();
  const first = await readyUser(dataDir);
  await first.query('create table kept as select 1 as n');
  expect(findProcesses(dataDir).watchdog).toHaveLength(2);
  expect(await first.stop()).toEqual({ stopped: true });
  expect(findProcesses(dataDir).all).toEqual([]);

  const second = await readyUser(dataDir);
  expect(await second.query('select n from kept')).toEqual(one);
});

test('processes share one server regardless of start and stop order', async () => {
  const dataDir = dataDirOfTest();
  const first = await readyUser(dataDir);
  await first.query('create table kept as select 1 as n');
  const second = await readyUser(dataDir);
  const { all } = findProcesses(dataDir);
  await first.kill();
  const third = await readyUser(dataDir);
  expect(await second.query('select n from kept')).toEqual(one);
  expect(findProcesses(dataDir).watchdog).toEqual(all.slice(0, 2));

  expect(await second.stop()).toEqual({ stopped: true });
  expect(await third.query('select n from kept')).toEqual(one);
  expect(await third.stop()).toEqual({ stopped: true });
  expect(findProcesses(dataDir).all).toEqual([]);
});

test('the server stops cleanly when its only user process is killed', async () => {
  const dataDir = dataDirOfTest();
  const only = await readyUser(dataDir);
  await only.kill();
  await allGone(dataDir);
  expect(fs.readFileSync(path.join(findPostgresFolder(dataDir), 'postgres.log'), 'utf8')).toContain(
    'database system is shut down',
  );
});

test('a killed server restarts with its data', async () => {
  const dataDir = dataDirOfTest();
  const only = await readyUser(dataDir);
  await only.query('create table kept as select 1 as n');
  const before = findProcesses(dataDir);
  killAll(before.server);
  await vi.waitFor(async () => expect(await only.query('select n from kept')).toEqual(one), patient);
  expect(findProcesses(dataDir).watchdog).toEqual(before.watchdog);
});

test.each([
  ['whole', (pids: number[]) => pids],
  ['first', (pids: number[]) => pids.slice(0, 1)],
  ['second', (pids: number[]) => pids.slice(1)],
])('a killed %s watchdog is replaced and leaves nothing behind', async (_, some) => {
  const dataDir = dataDirOfTest();
  const only = await readyUser(dataDir);
  await only.query('create table kept as select 1 as n');
  const { watchdog } = findProcesses(dataDir);
  killAll(some(watchdog));
  await vi.waitFor(async () => {
    const now = findProcesses(dataDir).watchdog;
    expect(now).toHaveLength(2);
    expect(now.filter((pid) => watchdog.includes(pid))).toEqual([]);
    expect(await only.query('select n from kept')).toEqual(one);
  }, patient);
  expect(await only.stop()).toEqual({ stopped: true });
  expect(findProcesses(dataDir).all).toEqual([]);
});

test('the next start takes over a server whose watchdog and user were killed', async () => {
  const dataDir = dataDirOfTest();
  const first = await readyUser(dataDir);
  await first.query('create table kept as select 1 as n');
  const before = findProcesses(dataDir);
  killAll(before.watchdog);
  await first.kill();
  expect(findProcesses(dataDir).server).not.toEqual([]);

  const second = await readyUser(dataDir);
  expect(await second.query('select n from kept')).toEqual(one);
  expect(findProcesses(dataDir).server.filter((pid) => before.server.includes(pid))).toEqual([]);
});

test('a process that reuses the PID of an earlier server is not killed', async () => {
  const dataDir = dataDirOfTest();
  const first = await readyUser(dataDir);
  await first.stop();
  fs.writeFileSync(path.join(findPostgresFolder(dataDir), 'data/postmaster.pid'), `${process.pid}\n`);
  await readyUser(dataDir);
});

test('concurrent starts create one database', async () => {
  const dataDir = dataDirOfTest();
  const started = await Promise.all([1, 2, 3, 4].map(() => readyUser(dataDir)));
  await started[0]!.query('create table kept as select 1 as n');
  for (const each of started) expect(await each.query('select n from kept')).toEqual(one);
  expect(findProcesses(dataDir).watchdog).toHaveLength(2);
  await Promise.all(started.map((each) => each.stop()));
  await allGone(dataDir);
});

test('a user can start while the last one stops', async () => {
  const dataDir = dataDirOfTest();
  let last = await readyUser(dataDir);
  for (let turn = 0; turn < 6; turn += 1) {
    const next = user(dataDir);
    await new Promise((resolve) => setTimeout(resolve, turn * 25));
    await last.kill();
    expect(await next.ready()).toMatchObject({ ready: true });
    expect(await next.query('select 1 as n')).toEqual(one);
    last = next;
  }
});

test.each([20, 250])('the next start works after a kill %i ms into creating the files', async (delay) => {
  const dataDir = dataDirOfTest();
  const first = user(dataDir);
  await vi.waitFor(() => expect(fs.readdirSync(path.join(dataDir, 'postgres')).join()).toContain('data.new.'), {
    ...patient,
    interval: 5,
  });
  await new Promise((resolve) => setTimeout(resolve, delay));
  await first.kill();
  const second = await readyUser(dataDir);
  expect(await second.query('select 1 as n')).toEqual(one);
  expect(fs.readdirSync(findPostgresFolder(dataDir)).filter((name) => name.startsWith('data'))).toEqual(['data']);
  await second.stop();
  await allGone(dataDir);
});

test('works in a folder with a long name and special characters', async () => {
  const dataDir = dataDirOfTest('with "quotes", commas and \'blanks\'', 'x'.repeat(150));
  const first = user(dataDir);
  const { socket } = await first.ready();
  expect(socket).not.toContain(dataDir);
  await first.query('create table kept as select 1 as n');
  const second = await readyUser(dataDir);
  expect(await second.query('select n from kept')).toEqual(one);
  await Promise.all([first.stop(), second.stop()]);
  fs.rmdirSync(socket!);
});

test('a project in a private folder with special characters runs copied binaries', async () => {
  const root = path.dirname(dataDirOfTest());
  const tmp = path.join(root, 'tmp');
  fs.mkdirSync(tmp, { mode: 0o755 });
  const where = { project: copyProject(path.join(root, 'with "quotes", `ticks` and $signs')), tmp };
  const dataDirs = ['"one"', '$two'].map((name) => dataDirOfTest(name));
  const started = await Promise.all(dataDirs.map((dataDir) => readyUser(dataDir, where)));
  for (const each of started) expect(await each.query('select 1 as n')).toEqual(one);
  const copies = fs.readdirSync(tmp).filter((name) => name.startsWith('course-booking-program-'));
  expect(copies).toEqual([expect.stringMatching(/^course-booking-program-[\w.-]+-\d+$/)]);
  await Promise.all(started.map((each) => each.stop()));

  const copy = path.join(tmp, copies[0]!);
  fs.rmSync(path.join(copy, 'share/postgresql/timezone'), { recursive: true });
  const again = await readyUser(dataDirs[0]!, where);
  expect(fs.existsSync(path.join(copy, 'share/postgresql/timezone/Europe/Oslo'))).toBe(true);
  await again.stop();

  // Programs in a folder writable by others may have been replaced, so the copy below /tmp is used.
  fs.chmodSync(copy, 0o777);
  await readyUser(dataDirs[0]!, where);
  const commands = execFileSync('ps', ['-axww', '-o', 'command='], { encoding: 'utf8' }).split('\n');
  expect(commands.filter((line) => /^\/tmp\/course-booking-program-.*postgres -D /.test(line)).join()).toContain(
    findPostgresFolder(dataDirs[0]!),
  );
});

test.runIf(isRoot)('a folder inaccessible to the database user gets a note with the real location', async () => {
  const dataDir = dataDirOfTest('deep');
  fs.mkdirSync(dataDir, { recursive: true });
  fs.chmodSync(path.dirname(dataDir), 0o700);
  fs.chmodSync(dataDir, 0o700);
  const first = user(dataDir);
  const { notes } = await first.ready();
  const home = findPostgresFolder(dataDir);
  expect(notes!.join()).toContain(home);
  expect(home.startsWith(dataDir)).toBe(false);
  await first.query('create table kept as select 1 as n');
  await first.stop();
  expect(fs.readdirSync(dataDir)).toEqual(['database-location']);

  const second = await readyUser(dataDir);
  expect(await second.query('select n from kept')).toEqual(one);
  await second.stop();
  fs.rmSync(home, { recursive: true });
  expect((await user(dataDir).ready()).error).toMatch(/database-location names .* missing: restore it/);
});

test('unsupported setups fail with one sentence', async () => {
  const dataDir = dataDirOfTest();
  const first = await readyUser(dataDir);
  await first.stop();
  const data = path.join(findPostgresFolder(dataDir), 'data');
  fs.writeFileSync(path.join(data, 'PG_VERSION'), '9.6\n');
  expect((await user(dataDir).ready()).error).toMatch(/is one of PostgreSQL 9.6, and this is 18/);
  fs.writeFileSync(path.join(data, 'PG_VERSION'), '18\n');

  fs.appendFileSync(path.join(data, 'postgresql.conf'), 'no_such_setting = 1\n');
  expect((await user(dataDir).ready()).error).toMatch(/does not start: .*FATAL.*configuration file/);
  await allGone(dataDir);

  fs.rmSync(path.join(data, '..'), { recursive: true });
  execFileSync('touch', [path.join(dataDir, 'postgres')]);
  expect((await user(dataDir).ready()).error).toMatch(/set another DATA_DIR|cannot be created/);
});
