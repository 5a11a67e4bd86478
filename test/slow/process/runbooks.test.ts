import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createAuthority, createCertificate } from '../../support/certificates.ts';
import { documentedBlocks } from '../../support/documented-blocks.ts';
import { freePort } from '../../support/ports.ts';
import { databaseUrl, runCli, startServer, temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { runScript } from '../../support/run-script.ts';
import { ownDatabase } from '../../support/test-app.ts';

const needs = (...programs: string[]) => programs.find((program) => !succeeds(`command -v ${program}`));

test('the alerts that runbooks name exist', () => {
  const named = readFileSync('docs/operate/runbooks.md', 'utf8').matchAll(/`(Booking[A-Z]\w+)`/g);
  const rules = readFileSync('docs/deploy/alerts.yml', 'utf8');
  expect([...named].map(([, name]) => name).filter((name) => !rules.includes(`alert: ${name}\n`))).toEqual([]);
});

test('backups are copied encrypted, and restored from the copy, by the documented commands', async ({ skip }) => {
  const missing = needs('age', 'rclone', 'gpg');
  if (missing !== undefined) return skip(`${missing} is missing`);
  const [folder, remote] = [temporaryFolder(), temporaryFolder()];
  const env = { DATABASE_URL: databaseUrl(await ownDatabase()), BACKUP_DIR: join(folder, 'backups') };
  expect((await runCli(['backup'], env)).code).toBe(0);
  const [backup] = readdirSync(env.BACKUP_DIR);
  const variables = { ...env, FILE: join(env.BACKUP_DIR, backup!), REMOTE: `:local:${remote}` };
  const [withAge, withGnuPg] = documentedBlocks('backups', 'Copy them, encrypted') as [string, string];

  const [keygen, ...lines] = withAge.split('\n');
  expect(runScript(keygen!, variables, folder).status).toBe(0);
  const [PUBLIC_KEY] = /age1\w+/.exec(readFileSync(join(folder, 'backup-key.txt'), 'utf8'))!;
  expect(runScript(lines.join('\n'), { ...variables, PUBLIC_KEY }, folder)).toMatchObject({ status: 0 });
  expect(readdirSync(remote)).toEqual([`${backup}.age`]);
  expect(readFileSync(join(folder, 'restored.zip'))).toEqual(readFileSync(variables.FILE));

  writeFileSync(join(folder, 'passphrase.txt'), 'fjord og fjell og mer\n');
  expect(runScript(withGnuPg, variables, folder)).toMatchObject({ status: 0 });
  expect(readFileSync(join(folder, 'restored.zip'))).toEqual(readFileSync(variables.FILE));
  expect(readFileSync(`${variables.FILE}.gpg`).includes(readFileSync(variables.FILE).subarray(0, 30))).toBe(false);
});

test('copy-backups.sh copies what is missing, and leaves no incomplete copy', async ({ skip }) => {
  const missing = needs('age', 'rclone');
  if (missing !== undefined) return skip(`${missing} is missing`);
  const [folder, remote] = [temporaryFolder(), temporaryFolder()];
  const [BACKUP_DIR, RECIPIENTS] = [join(folder, 'backups'), join(folder, 'recipients.txt')];
  mkdirSync(BACKUP_DIR);
  for (const name of ['a', 'b']) writeFileSync(join(BACKUP_DIR, `${name}.zip`), name);
  const copy = () =>
    runScript(resolve('docs/deploy/copy-backups.sh'), { BACKUP_DIR, RECIPIENTS, REMOTE: `:local:${remote}` }, folder);
  writeFileSync(RECIPIENTS, 'no recipient\n');
  expect(copy().status).toBe(1);
  expect(readdirSync(remote)).toEqual([]);

  execFileSync('age-keygen', ['-o', join(folder, 'key')], { stdio: 'ignore' });
  writeFileSync(RECIPIENTS, execFileSync('age-keygen', ['-y', join(folder, 'key')]));
  expect(copy()).toMatchObject({ status: 0 });
  const copied = () => ['a', 'b'].map((name) => readFileSync(join(remote, `${name}.zip.age`)));
  const first = copied();
  expect(copy()).toMatchObject({ status: 0 });
  expect(copied()).toEqual(first);
  expect(readdirSync(remote).sort()).toEqual(['a.zip.age', 'b.zip.age']);

  for (const line of ['one', 'two']) {
    writeFileSync(join(BACKUP_DIR, 'erasures.jsonl'), line);
    expect(copy()).toMatchObject({ status: 0 });
    const list = join(remote, 'erasures.jsonl.age');
    expect(execFileSync('age', ['--decrypt', '--identity', join(folder, 'key'), list], { encoding: 'utf8' })).toBe(
      line,
    );
  }
  expect(readdirSync(remote).sort()).toEqual(['a.zip.age', 'b.zip.age', 'erasures.jsonl.age']);
});

test('systemd accepts the unit, which starts Node with the options of npm start', ({ skip }) => {
  const unit = readFileSync('docs/deploy/booking.service', 'utf8');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  const [, variables, options] = /^exec env ((?:\w+=\d+ )+)node (--.*)/.exec(scripts.start)!;
  expect(unit).toContain(`Environment=${variables!.trim()}\nExecStart=/usr/bin/node ${options}\n`);
  const missing = needs('systemd-analyze');
  if (missing !== undefined) return skip(`${missing} is missing`);
  const file = join(temporaryFolder(), 'booking.service');
  const verify = (text: string) => {
    writeFileSync(file, text.replace('/usr/bin/node', process.execPath));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    return stdout + stderr;
  };
  expect(verify(unit)).not.toContain('booking.service:');
  // An unknown setting is only a warning to systemd.
  expect(verify(unit.replace('Restart=', 'Restarts='))).toContain('booking.service:');
});

/** Starts a proxy in front of a server; both end with the test. */
async function startBehindProxy(start: (upstream: number) => { command: string; args: string[] }) {
  const env = { DATABASE_URL: databaseUrl(await ownDatabase()), TRUST_PROXY: '127.0.0.1', LOG_REQUESTS: 'all' };
  const server = await startServer({ ...env, PUBLIC_URL: 'https://booking.school.example', LOG_FORMAT: 'json' });
  const { command, args } = start(server.port);
  const folder = temporaryFolder();
  const proxy = spawn(command, args, { env: { PATH: process.env['PATH'], HOME: folder }, stdio: 'ignore' });
  onTestFinished(() => void proxy.kill('SIGKILL'));
  return server;
}

const findRequestLine = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.includes('"forged"'))
    .map((line) => JSON.parse(line) as object)[0];

const forged = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'forged' };

test('nginx redirects to TLS, and passes the address of the client and no other', async ({ skip }) => {
  const missing = needs('nginx', 'openssl');
  if (missing !== undefined) return skip(`${missing} is missing`);
  const folder = temporaryFolder();
  const [plain, tls] = [await freePort(), await freePort()];
  const authority = createAuthority(folder, 'authority');
  const { certificate, key } = createCertificate(folder, 'server', authority, 'DNS:booking.school.example');
  const server = await startBehindProxy((upstream) => {
    const configuration = readFileSync('docs/deploy/nginx.conf', 'utf8')
      .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`)
      .replaceAll(/listen \[::\].*\n/g, '')
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ', `listen 127.0.0.1:${tls} `)
      .replace(/\/etc\/letsencrypt.*fullchain.pem/, certificate)
      .replace(/\/etc\/letsencrypt.*privkey.pem/, key);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const main = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
      http { access_log off; ${paths.join(' ')} ${configuration} }`;
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, main);
    execFileSync('nginx', ['-t', '-q', '-e', join(folder, 'error.log'), '-c', file]);
    return { command: 'nginx', args: ['-e', join(folder, 'error.log'), '-c', file] };
  });
  const host = { host: 'booking.school.example' };
  const get = () =>
    new Promise<number>((done, fail) => {
      const options = { host: '127.0.0.1', port: tls, path: '/v2/courses', servername: host.host };
      const headers = { ...host, ...forged };
      request({ ...options, headers, ca: readFileSync(authority.certificate) }, (response) => {
        response.resume().on('end', () => done(response.statusCode!));
      })
        .on('error', fail)
        .end();
    });
  await expect.poll(() => get().catch(() => 0)).toBe(401);
  await expect.poll(() => findRequestLine(server.output())).toMatchObject({ address: '127.0.0.1', status: 401 });
  const redirect = await fetch(`http://127.0.0.1:${plain}/v2/courses?limit=1`, { redirect: 'manual', headers: host });
  expect([redirect.status, redirect.headers.get('location')]).toEqual([
    308,
    expect.stringMatching(/^https:\/\/[^/]+\/v2\/courses\?limit=1$/),
  ]);
});

test('Caddy accepts its file, and passes the address of the client and no other', async ({ skip }) => {
  const missing = needs('caddy');
  if (missing !== undefined) return skip(`${missing} is missing`);
  const folder = temporaryFolder();
  const port = await freePort();
  execFileSync('caddy', ['adapt', '--config', 'docs/deploy/Caddyfile'], { stdio: 'ignore', env: { HOME: folder } });
  const server = await startBehindProxy((upstream) => {
    const file = join(folder, 'Caddyfile');
    const text = readFileSync('docs/deploy/Caddyfile', 'utf8').replace('127.0.0.1:3000', `127.0.0.1:${upstream}`);
    const options = '{\n  admin off\n}\n';
    writeFileSync(file, options + text.replace('booking.school.example', `http://127.0.0.1:${port}`));
    return { command: 'caddy', args: ['run', '--config', file, '--adapter', 'caddyfile'] };
  });
  const get = () => fetch(`http://127.0.0.1:${port}/v2/courses`, { headers: forged });
  await expect.poll(async () => (await get().catch(() => undefined))?.status).toBe(401);
  await expect.poll(() => findRequestLine(server.output())).toMatchObject({ address: '127.0.0.1' });
});

const postgresBinaries = spawnSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin'], { encoding: 'utf8' })
  .stdout.trim()
  .split('\n')
  .at(-1)!;

test('the database is recovered to a moment from the archive, by the documented commands', async ({ skip }) => {
  if (!succeeds(`test -x ${postgresBinaries}/pg_basebackup`)) return skip('postgresql is missing');
  const folder = temporaryFolder();
  const port = String(await freePort());
  const isRoot = process.getuid?.() === 0;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  const user = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (isRoot) chownSync(folder, user.uid!, user.gid!);
  const env = { PGHOST: folder, PGPORT: port, PGUSER: 'booking', PGDATABASE: 'postgres', PGDATA: join(folder, 'data') };
  const run = (script: string, more: Record<string, string> = {}) => {
    const text = script.replaceAll('/mnt/pg', join(folder, 'pg'));
    const PATH = `${postgresBinaries}:${process.env['PATH']}`;
    const result = runScript(text, { ...env, PATH, ...more }, folder, user);
    if (result.status !== 0) throw new Error(`${script}: ${result.output}`);
    return result.output;
  };
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder} -c fsync=off`;
  const start = () => run(`pg_ctl --wait --log=server.log -o "${options}" start`);
  const stop = () => run('pg_ctl --wait --mode=fast stop');
  const [configuration] = documentedBlocks('point-in-time-recovery', 'Set up', 'text') as [string];
  const [base, clean] = documentedBlocks('point-in-time-recovery', 'Set up') as [string, string];
  const [recover] = documentedBlocks('point-in-time-recovery', 'Recover') as [string];

  run('mkdir --parents pg/wal && initdb --username=booking --auth=trust --encoding=UTF8 --no-sync');
  appendFileSync(join(env.PGDATA, 'postgresql.conf'), configuration.replaceAll('/mnt/pg', join(folder, 'pg')));
  start();
  onTestFinished(() => void spawnSync(join(postgresBinaries, 'pg_ctl'), ['stop', '-m', 'immediate'], { ...user, env }));
  const url = { DATABASE_URL: `postgres://booking@127.0.0.1:${port}/postgres` };
  const create = async (title: string) =>
    expect(await runCli(['provider', 'create', '--title', title], url)).toMatchObject({ code: 0 });
  expect(await runCli(['migrate'], url)).toMatchObject({ code: 0 });
  await create('Before the base backup');
  run(base);
  await create('After it');
  const client = new Client({ connectionString: url.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now');
  await client.end();
  await create('A mistake');
  run(clean);
  stop();

  renameSync(env.PGDATA, join(folder, 'damaged'));
  const [name] = readdirSync(join(folder, 'pg')).filter((one) => one.startsWith('base-'));
  run(recover, { BASE: join(folder, 'pg', name!), MOMENT: rows[0]!.now });
  start();
  const providers = async () => (await runCli(['provider', 'list', '--json'], url)).json<{ title: string }[]>();
  expect((await providers()).map(({ title }) => title)).toEqual(['Before the base backup', 'After it']);
  // Promoted: it accepts writes.
  await expect.poll(async () => (await runCli(['provider', 'create', '--title', 'Next'], url)).code).toBe(0);
});
