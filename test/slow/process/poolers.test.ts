import { writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { runCli, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { openTestDatabase, openTestApp, sharedTestApp } from '../../support/test-app.ts';

async function oneConnection() {
  const reported: string[] = [];
  const database = openTestDatabase(inject('shared'), {
    poolSize: 1,
    onUnprepared: () => void reported.push('unnamed'),
  });
  const testApp = await openTestApp(database);
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  const requests = async (n: number) => {
    const created = await me.post('/v2/locations', { title: `Tag ${n} ${Math.random()}` });
    return [created.status, (await me.get('/v2/course-tags')).status, (await me.get('/v2/courses')).status];
  };
  for (let n = 0; n < 3; n += 1) await requests(n);
  const names = async () =>
    (await database.pool.query<{ name: string }>('select name from pg_prepared_statements')).rows.map(
      ({ name }) => name,
    );
  return { database, reported, requests, names };
}

test('requests succeed after the session lost its prepared statements', async () => {
  const { database, reported, requests, names } = await oneConnection();
  const before = await requests(0);
  expect(before.every((status) => status < 300)).toBe(true);
  expect((await names()).length).toBeGreaterThan(2);
  await database.pool.query('deallocate all');
  expect(await requests(1)).toEqual(before);
  expect(reported).toEqual([]);
});

test('requests succeed on pooled sessions with foreign prepared statements', async () => {
  const { database, reported, requests, names } = await oneConnection();
  const before = await requests(0);
  const known = await names();
  for (let n = 1; n <= 4; n += 1) {
    await database.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    for (const name of known) await database.pool.query(`prepare "${name}" as select 1`);
    expect(await requests(n)).toEqual(before);
  }
  expect(reported).toEqual(['unnamed']);
  await database.pool.query('deallocate all');
  expect(await requests(5)).toEqual(before);
  expect(await names()).toEqual([]);
});

/** A proxy in front of the test server; like a pooler, it can send its own process id in the handshake. */
async function portBefore({ ownIds }: { ownIds: boolean }) {
  const { host = '', port = 5432 } = inject('server');
  const proxy = createServer((client) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    client.on('error', () => server.destroy()).pipe(server);
    server.on('error', () => client.destroy());
    server.on('data', (data: Buffer) => {
      const greeting = data.indexOf(Buffer.from('K\0\0\0\x0c', 'latin1'));
      if (ownIds && greeting >= 0) data.writeInt32BE(123, greeting + 5);
      client.write(data);
    });
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  onTestFinished(() => void proxy.close());
  return (proxy.address() as AddressInfo).port;
}

test('import rejects a transaction pooler', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const file = join(temporaryFolder(), 'tags.ndjson');
  writeFileSync(file, JSON.stringify({ kind: 'tag', ref: 't', title: 'Tag' }));
  const importOver = async (ownIds: boolean) => {
    const url = new URL(databaseUrl(inject('shared')));
    url.searchParams.delete('host');
    url.hostname = '127.0.0.1';
    url.port = String(await portBefore({ ownIds }));
    const { code, stderr } = await runCli(['import', file, '--provider', String(me.id)], { DATABASE_URL: url.href });
    return [code, stderr];
  };
  expect(await importOver(true)).toEqual([
    1,
    'error: This command needs a direct connection: DATABASE_URL must name PostgreSQL, not a pooler\n',
  ]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
  expect(await importOver(false)).toEqual([0, '']);
});
