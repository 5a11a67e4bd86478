import { chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/database/client.ts';
import { openEmbeddedDatabase } from '../../../src/embedded-postgres/index.ts';
import { describeError } from '../../../src/database/describe-error.ts';
import { waitForDatabase } from '../../../src/database/store.ts';
import { createAuthority, createCertificate } from '../../support/certificates.ts';
import { startServer, temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';

// The embedded database always uses port 5432, so it gets a loopback address of its own.
const address = `127.${(process.pid >> 8) & 255}.${process.pid & 255}.2`;

const canListen = await new Promise<boolean>((done) => {
  const probe = createServer()
    .once('error', () => done(false))
    .listen(5432, address, () => probe.close(() => done(true)));
});
const missing = !succeeds('openssl version') ? 'no openssl here' : canListen ? '' : `cannot listen at ${address}:5432`;

/** A PostgreSQL at the address that accepts only TLS, with a certificate for those names. */
async function startDatabase() {
  const folder = temporaryFolder();
  const authority = createAuthority(folder, 'authority');
  const hba = join(folder, 'hba.conf');
  writeFileSync(hba, `local all all trust\nhostssl all all 127.0.0.0/8 trust\n`);
  const dataDir = join(folder, 'data');
  const settings = { listen_addresses: address, hba_file: hba };
  const database = await openEmbeddedDatabase({ dataDir, fsync: false, settings });
  const client = new Client(database.connection);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.stop();
  });
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  const { data_directory: home } = rows[0]!;
  const { uid, gid } = statSync(home);

  const present = async (names: string, days = 1, issuer = authority) => {
    const { certificate, key } = createCertificate(folder, 'server', issuer, names, days);
    for (const [from, to] of [
      [certificate, join(home, 'server.crt')],
      [key, join(home, 'server.key')],
    ] as const) {
      copyFileSync(from, to);
      chownSync(to, uid, gid);
    }
    await client.query('alter system set ssl = on');
    await client.query('select pg_reload_conf()');
    const served = `openssl s_client -starttls postgres -connect ${address}:5432 </dev/null 2>/dev/null`;
    const fingerprint = 'openssl x509 -noout -fingerprint';
    const isServed = `test "$(${served} | ${fingerprint})" = "$(${fingerprint} -in ${certificate})"`;
    await expect.poll(() => succeeds(isServed)).toBe(true);
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where client_addr is not null and pid <> pg_backend_pid()`,
    );
  };
  /** Returns true for each connection of the server that is encrypted. */
  const sessions = async () =>
    (
      await client.query<{ ssl: boolean }>(`select ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'course-booking-service' and client_addr is not null`)
    ).rows.map(({ ssl }) => ssl);
  return { folder, authority, present, sessions };
}

const urlWith = (query: string) => `postgres://booking@${address}/booking${query}`;

test.skipIf(missing)(`each documented TLS option of DATABASE_URL works${missing && `: ${missing}`}`, async () => {
  const { authority, present, sessions } = await startDatabase();
  await present(`IP:${address}`);
  const spellings: Record<string, string>[] = [
    { DATABASE_URL: urlWith(`?sslmode=verify-full&sslrootcert=${authority.certificate}`) },
    { DATABASE_URL: urlWith('?sslmode=verify-full'), NODE_EXTRA_CA_CERTS: authority.certificate },
    { DATABASE_URL: urlWith('?uselibpqcompat=true&sslmode=require') },
    { DATABASE_URL: urlWith('?sslmode=no-verify') },
    { DATABASE_URL: urlWith(''), PGSSLMODE: 'no-verify' },
  ];
  for (const env of spellings) {
    const server = await startServer(env);
    expect(server.errors()).toBe('');
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    expect(new Set(await sessions())).toEqual(new Set([true]));
    server.child.kill('SIGKILL');
    await server.ended;
  }
});

/** Error line of a start with that query string in DATABASE_URL; fails if the start waits instead. */
async function connectError(query: string) {
  const database = openDatabase({
    connection: { connectionString: urlWith(query) },
    timezone: 'Europe/Oslo',
    poolSize: 2,
    acquireMs: 10_000,
    statementMs: 10_000,
    writeMs: 10_000,
  });
  try {
    await waitForDatabase(database, { waitMs: 3_000_000 });
    return 'none';
  } catch (error) {
    return describeError(error);
  } finally {
    await database.close();
  }
}

test.skipIf(missing)(
  `a certificate that is not accepted is named with the setting${missing && `: ${missing}`}`,
  async () => {
    const { folder, authority, present } = await startDatabase();
    const right = `?sslmode=verify-full&sslrootcert=${authority.certificate}`;
    const other = createAuthority(folder, 'other');
    expect(await connectError(right)).toBe(
      'the database does not offer TLS, which sslmode in DATABASE_URL or PGSSLMODE requires',
    );

    await present(`IP:${address}`);
    expect(await connectError(right)).toBe('none');
    const unknown = /TLS certificate is not accepted \(UNABLE_TO_\w+: .+\): sslrootcert in DATABASE_URL must name/;
    for (const query of [
      '?sslmode=verify-full',
      '?sslmode=require',
      `?sslmode=verify-full&sslrootcert=${other.certificate}`,
    ])
      expect(await connectError(query)).toMatch(unknown);
    expect(await connectError(`${right}&sslcert=${authority.certificate}&sslkey=${other.key}`)).toMatch(
      /\(ERR_OSSL_\w+: .+\): sslcert and sslkey in DATABASE_URL/,
    );
    expect(await connectError(`?sslmode=verify-full&sslrootcert=${folder}/none.pem`)).toBe(
      `the file ${folder}/none.pem cannot be read (ENOENT)`,
    );
    expect(await connectError('')).toMatch(/no encryption; it may require TLS: set sslmode in DATABASE_URL$/);

    await present('DNS:database.example');
    expect(await connectError(right)).toMatch(
      /\(ERR_TLS_CERT_ALTNAME_INVALID: .+\): it must name the host of DATABASE_URL/,
    );
    expect(await connectError(right.replace('?', '?uselibpqcompat=true&').replace('full', 'ca'))).toBe('none');
    await present(`IP:${address}`, -1);
    expect(await connectError(right)).toMatch(/\(CERT_HAS_EXPIRED: .+\): renew the database's certificate$/);
  },
);

test.skipIf(missing)(`requests return 503 after the certificate expires${missing && `: ${missing}`}`, async () => {
  const { authority, present } = await startDatabase();
  await present(`IP:${address}`);
  const env = { DATABASE_URL: urlWith(`?sslmode=verify-full&sslrootcert=${authority.certificate}`) };
  const server = await startServer({ ...env, BOOTSTRAP_API_KEY: 'k'.repeat(32), BOOTSTRAP_PROVIDER: 'A' });
  const get = async (path: string) =>
    (await fetch(`${server.url}${path}`, { headers: { 'x-api-key': 'k'.repeat(32) } })).status;
  expect(await get('/v2/courses')).toBe(200);
  await present(`IP:${address}`, -1);
  await expect.poll(() => get('/ready')).toBe(503);
  expect(await get('/v2/courses')).toBe(503);
  expect(server.output()).toContain('CERT_HAS_EXPIRED');
  await present(`IP:${address}`);
  await expect.poll(() => get('/v2/courses')).toBe(200);
});
