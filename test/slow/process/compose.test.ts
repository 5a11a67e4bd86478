import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/config.ts';
import { startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { asAdmin, connectionTo } from '../../support/test-app.ts';

type Service = Record<string, unknown> & { environment: Record<string, string>; volumes: string[]; networks: string[] };
type Compose = {
  services: { server: Service; database: Service };
  networks: Record<string, object>;
  volumes: Record<string, null>;
  configs: { start: { content: string }; role: { content: string } };
};
const { services, networks, volumes, configs } = parse(readFileSync('docker-compose.yml', 'utf8')) as Compose;
/** Interpolated as by Compose; the scripts use no variable of the host. */
const script = (name: 'start' | 'role') => configs[name].content.replaceAll('$$', '$');

test('the Compose file restricts the server and requires a password', () => {
  expect(services.server).toMatchObject({
    read_only: true,
    tmpfs: ['/tmp'],
    mem_limit: '512m',
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(services.server).not.toHaveProperty('cap_add');
  expect(services.server.volumes).toContain('passwords:/passwords:ro');
  expect(services.database).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  expect(services.database.environment).not.toHaveProperty('POSTGRES_HOST_AUTH_METHOD');
  expect(services.database).not.toHaveProperty('ports');
  // Without `default` the server's port is not published, since `database` is internal.
  expect(Object.keys(networks)).toContain('default');
  expect(networks['database']).toEqual({ internal: true });
  expect([services.server.networks, services.database.networks]).toEqual([['database', 'default'], ['database']]);
  for (const { networks: joined, volumes: mounted } of Object.values(services)) {
    expect(Object.keys(networks)).toEqual(expect.arrayContaining(joined));
    const names = mounted.map((volume) => volume.split(':')[0]);
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(names));
  }
  for (const { content } of Object.values(configs)) expect(content.replaceAll('$$', '')).not.toContain('$');
});

test('the first start creates passwords, each readable by one user, and later starts keep them', async () => {
  const folder = temporaryFolder();
  const [passwords, bin, owners] = ['passwords', 'bin', 'owners'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(passwords);
  mkdirSync(bin);
  const programs = {
    chown: `printf '%s %s\\n' "$1" "\${2##*/}" >>'${owners}'`,
    'docker-entrypoint.sh': 'echo "$@"; umask',
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const file = join(folder, 'start.sh');
  writeFileSync(file, script('start').replaceAll('/passwords/', `${passwords}/`));
  const start = () =>
    promisify(execFile)('bash', ['-c', 'umask 022; exec bash "$0" postgres', file], {
      env: { PATH: `${bin}:${process.env['PATH']}` },
    });
  const contents = () =>
    ['superuser', 'role', 'database-url'].map((name) => readFileSync(join(passwords, name), 'utf8'));

  expect((await start()).stdout).toBe('postgres\n0022\n');
  const [superuser, role, url] = contents();
  expect(superuser).toMatch(/^[0-9a-f]{48}$/);
  expect(role).toMatch(/^[0-9a-f]{48}$/);
  expect(role).not.toBe(superuser);
  expect(readConfig({ DATABASE_URL_FILE: join(passwords, 'database-url') }).DATABASE_URL).toBe(
    `postgres://booking:${role}@database/booking`,
  );
  expect(statSync(join(passwords, 'database-url')).mode & 0o777).toBe(0o600);
  expect(readFileSync(owners, 'utf8')).toBe('root superuser.new\npostgres role.new\n1000 database-url.new\n');

  await start();
  expect(contents()).toEqual([superuser, role, url]);
});

test('the Compose role is not a superuser and can migrate and serve', async () => {
  const name = `booking_compose_${process.pid}`;
  await asAdmin(`create database ${name}`);
  onTestFinished(async () => {
    await asAdmin(`drop database if exists ${name} with (force)`);
    await asAdmin(`drop role if exists ${name}`);
  });
  const [, sql] = /<<'SQL'\n\\set password `cat \/passwords\/role`\n(.*)SQL\n$/s.exec(script('role'))!;
  const admin = new Client(connectionTo(name));
  await admin.connect();
  const password = 'f'.repeat(48);
  await admin.query(sql!.replaceAll('booking', name).replace(":'password'", `'${password}'`));
  const { rows } = await admin.query(
    `select rolsuper, rolcreatedb, rolcreaterole, rolpassword like 'SCRAM-SHA-256$%' as scram
     from pg_authid where rolname = current_database()`,
  );
  await admin.end();
  expect(rows).toEqual([{ rolsuper: false, rolcreatedb: false, rolcreaterole: false, scram: true }]);

  const key = 'key-of-the-first-provider-0123456789';
  const url = new URL(databaseUrl(name));
  url.username = name;
  url.password = password;
  const env = { DATABASE_URL: url.href, BOOTSTRAP_PROVIDER: 'First', BOOTSTRAP_API_KEY: key };
  const server = await startServer(env);
  expect(server.output()).toMatch(/Brought the database up to date \(\d+ migrations\)/);
  const response = await fetch(`${server.url}/v2/courses`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: new URLSearchParams({ title: 'First aid' }),
  });
  expect(response.status).toBe(201);
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
});

const hasPsql = () => {
  try {
    return execFileSync('psql', ['--version']).length > 0;
  } catch {
    return false;
  }
};

test.runIf(hasPsql())('psql runs the role script unmodified', async () => {
  const name = `booking_psql_${process.pid}`;
  await asAdmin(`create database ${name}`);
  onTestFinished(async () => {
    await asAdmin(`drop database if exists ${name} with (force)`);
    await asAdmin(`drop role if exists ${name}`);
  });
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'role'), "it's secret");
  const { host, port, user, password } = connectionTo(name);
  const text = script('role')
    .replaceAll('booking', name)
    .replace('--username=postgres', `--username=${user}`)
    .replace('/passwords/role', join(folder, 'role'));
  await promisify(execFile)('bash', ['-c', text], {
    env: { PATH: process.env['PATH'], PGHOST: host, PGPORT: String(port), PGPASSWORD: String(password ?? '') },
  });
  const admin = new Client(connectionTo(name));
  await admin.connect();
  const { rows } = await admin.query(
    `select pg_get_userbyid(datdba) as owner from pg_database where datname = current_database()`,
  );
  await admin.end();
  expect(rows).toEqual([{ owner: name }]);
});
