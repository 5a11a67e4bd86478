import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../support/config.ts';
import { startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { asAdmin, connectionTo, ownDatabase } from '../../support/test-app.ts';

type Service = Record<string, unknown> & {
  environment: Record<string, string>;
  volumes?: string[];
  networks: string[];
  configs?: { source: string; target: string }[];
};
type Compose = {
  services: Record<'server' | 'database' | 'backup' | 'prometheus' | 'grafana', Service>;
  networks: Record<string, object>;
  volumes: Record<string, null>;
  configs: Record<'start' | 'role' | 'rotate', { content: string }> &
    Record<'alerts' | 'dashboard' | 'prometheus' | 'grafana-datasources' | 'grafana-dashboards', { file: string }>;
  secrets: Record<string, { file: string }>;
};
const { services, networks, volumes, configs, secrets } = parse(readFileSync('docker-compose.yml', 'utf8')) as Compose;
/** Interpolated as by Compose; the scripts use no variable of the host. */
const script = (name: 'start' | 'role' | 'rotate') => configs[name].content.replaceAll('$$', '$');

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
  for (const { networks: joined, volumes: mounted = [], configs: sources = [] } of Object.values(services)) {
    expect(Object.keys(networks)).toEqual(expect.arrayContaining(joined));
    const names = mounted.map((volume) => volume.split(':')[0]);
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(names));
    expect(Object.keys(configs)).toEqual(expect.arrayContaining(sources.map(({ source }) => source)));
  }
  // Compose refuses a `content`, and a secret from the environment, in a container with a read-only file system.
  for (const { read_only: isReadOnly, configs: sources = [] } of Object.values(services)) {
    const files = sources.map(({ source }) => 'file' in configs[source as keyof typeof configs]);
    expect(isReadOnly === true && files.includes(false)).toBe(false);
  }
  const logging = { driver: 'local', options: { 'max-size': '20m', 'max-file': '5' } };
  for (const service of Object.values(services)) expect(service).toMatchObject({ logging });
  for (const config of Object.values(configs)) {
    if ('file' in config) expect(existsSync(config.file)).toBe(true);
    else expect(config.content.replaceAll('$$', '')).not.toContain('$');
  }
});

test('the address of the mail server is a secret, and optional', () => {
  expect(secrets).toEqual({ 'smtp-url': { file: '${SMTP_URL_FILE:-/dev/null}' } });
  expect(services.server['secrets']).toEqual(['smtp-url']);
  expect(services.server.environment['SMTP_URL_FILE']).toBe('${SMTP_URL_FILE:+/run/secrets/smtp-url}');
});

test('the profiles add restricted containers, and the server has nothing of theirs but a port inside', () => {
  const profiles = Object.entries(services).map(([name, { profiles: of = [] }]) => [name, ...(of as string[])]);
  expect(profiles).toEqual([
    ['database'],
    ['server'],
    ['backup'],
    ['prometheus', 'monitoring'],
    ['grafana', 'monitoring'],
  ]);
  const { backup, prometheus, grafana, server } = services;
  for (const one of [backup, prometheus, grafana]) {
    expect(one).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(one).not.toHaveProperty('cap_add');
    expect(one).toHaveProperty('mem_limit');
  }
  expect(grafana['ports']).toEqual(['127.0.0.1:3001:3000']);
  expect([prometheus.networks, grafana.networks, backup.networks]).toEqual([['default'], ['default'], ['database']]);
  expect(server['ports']).toEqual(['3000:3000']);
  const { scrape_configs: jobs, rule_files: rules } = parse(readFileSync(configs.prometheus.file, 'utf8')) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    rule_files: string[];
  };
  expect(jobs[0]!.static_configs[0]!.targets).toEqual([`server:${server.environment['ADMIN_PORT']}`]);
  expect(server.environment['BACKUP_AT']).toBe('elsewhere');
  // Prometheus is in another container.
  expect(server.environment['ADMIN_HOST']).toBe('0.0.0.0');
  // The alert rules select this job.
  expect(readFileSync(configs.alerts.file, 'utf8')).toContain(`{job="${jobs[0]!.job_name}"}`);
  expect(prometheus.configs!.map(({ target }) => target)).toContain(`/etc/prometheus/${rules[0]}`);
  expect(parse(readFileSync(configs['grafana-datasources'].file, 'utf8'))).toMatchObject({
    datasources: [{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }],
  });
  const { providers } = parse(readFileSync(configs['grafana-dashboards'].file, 'utf8')) as {
    providers: { options: { path: string } }[];
  };
  const dashboard = grafana.configs!.find(({ source }) => source === 'dashboard')!;
  expect(dashboard.target).toBe(grafana.environment['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']);
  expect(dirname(dashboard.target)).toBe(providers[0]!.options.path);
});

function hasProgram(name: string) {
  try {
    return execFileSync(name, ['--version'], { stdio: 'pipe' }).length > 0;
  } catch {
    return false;
  }
}

test.runIf(hasProgram('promtool'))('promtool accepts the configuration of Prometheus', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'prometheus.yml');
  copyFileSync(configs.prometheus.file, file);
  copyFileSync(configs.alerts.file, join(folder, 'alerts.yml'));
  const { stdout } = await promisify(execFile)('promtool', ['check', 'config', file]);
  expect(stdout).toMatch(/rules found/);
});

test('the container `backup` runs its command until it is stopped', async () => {
  const { command, environment } = services.backup as { command: string[] } & Service;
  const [, program, ...args] = command;
  const name = await ownDatabase();
  const at = /:-(.*)\}/.exec(environment['BACKUP_AT']!)![1];
  const env = { DATABASE_URL: databaseUrl(name), DATA_DIR: temporaryFolder(), BACKUP_AT: at, LOG_FORMAT: 'json' };
  const child = spawn(process.execPath, [program!, ...args], { env: { PATH: process.env['PATH'], ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await expect.poll(() => output).toContain(`A backup is made each night at ${at}`);
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  expect([code, output.trim().split('\n').length]).toEqual([0, 1]);
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

test.runIf(hasProgram('psql'))('psql runs the role script unmodified', async () => {
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

test.runIf(hasProgram('psql'))(
  'rotate.sh gives both roles new passwords, and keeps the files where it fails',
  async () => {
    const name = `booking_rotate_${process.pid}`;
    const superuser = `${name}_superuser`;
    await asAdmin(`create database ${name}`);
    for (const role of [name, superuser]) await asAdmin(`create role ${role} login password 'before'`);
    onTestFinished(async () => {
      await asAdmin(`drop database if exists ${name} with (force)`);
      for (const role of [name, superuser]) await asAdmin(`drop role if exists ${role}`);
    });
    const [passwords, bin] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(bin, 'chown'), '#!/bin/sh\n');
    chmodSync(join(bin, 'chown'), 0o755);
    const before = ['role', 'database-url', 'superuser'].map((file) => [file, `old ${file}`] as const);
    for (const [file, text] of before) writeFileSync(join(passwords, file), text);
    const contents = () => before.map(([file]) => [file, readFileSync(join(passwords, file), 'utf8')]);
    const { host, port, user, password } = connectionTo(name);
    const rotate = (text: string) =>
      promisify(execFile)('bash', ['-c', text], {
        env: {
          ...{ PATH: `${bin}:${process.env['PATH']}`, PGHOST: host, PGPORT: String(port) },
          PGPASSWORD: String(password ?? ''),
        },
      });
    const text = script('rotate')
      .replaceAll('/passwords/', `${passwords}/`)
      .replaceAll('alter role booking', `alter role ${name}`)
      .replaceAll('alter role postgres', `alter role ${superuser}`)
      .replace('--username=postgres --dbname=booking', `--username=${user} --dbname=${name}`);
    await expect(rotate(text.replace(`alter role ${superuser}`, 'alter role missing'))).rejects.toThrow(
      /does not exist/,
    );
    expect(contents()).toEqual(before);
    const hashes = async () => {
      const admin = new Client(connectionTo(name));
      await admin.connect();
      const query = 'select rolpassword from pg_authid where rolname = any($1) order by rolname';
      const { rows } = await admin.query<{ rolpassword: string }>(query, [[name, superuser]]);
      return admin.end().then(() => rows.map(({ rolpassword }) => rolpassword));
    };
    const [roleBefore, superuserBefore] = await hashes();

    expect((await rotate(text)).stdout).toContain('docker compose restart server backup');
    const [roleAfter, superuserAfter] = await hashes();
    expect(roleAfter).not.toBe(roleBefore);
    expect(superuserAfter).not.toBe(superuserBefore);
    const after = Object.fromEntries(contents()) as Record<string, string>;
    expect(after['role']).toMatch(/^[0-9a-f]{48}$/);
    expect(after['database-url']).toBe(`postgres://booking:${after['role']}@database/booking`);
    // The file has the password of the hash.
    const [, iterations, salt, stored] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):/.exec(roleAfter!)!;
    const salted = pbkdf2Sync(after['role']!, Buffer.from(salt!, 'base64'), Number(iterations), 32, 'sha256');
    const clientKey = createHmac('sha256', salted).update('Client Key').digest();
    expect(createHash('sha256').update(clientKey).digest('base64')).toBe(stored);
  },
);
