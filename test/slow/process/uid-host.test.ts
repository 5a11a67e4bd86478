import { expect, onTestFinished, test } from 'vitest';
import { createBookableDate } from '../../support/booking.ts';
import { parseCalendar } from '../../support/calendars.ts';
import { runSql } from '../../support/backups.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { databaseUrl, runCli, startServer } from '../../support/processes.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

test('UIDs of calendar entries keep their host when the service gets another one, but not that of a trial', async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  await switchCatalogOn(me, { slug: 'knots' });
  const { dateId } = await createBookableDate(me);
  const readFrom = async (PUBLIC_URL: string, migrate?: () => Promise<unknown>) => {
    const MIGRATE_ON_START = String(migrate === undefined);
    const server = await startServer({ DATABASE_URL: databaseUrl(name), PUBLIC_URL, MIGRATE_ON_START });
    await migrate?.();
    const read = async (path: string) => (await fetch(`${server.url}${path}`)).text();
    const calendar = parseCalendar(await read('/catalog/knots/calendar.ics'));
    const [, tag] = /<id>tag:([^,]*),/.exec(await read('/catalog/knots/feed.atom'))!;
    server.child.kill();
    await server.ended;
    return [calendar.events[0]!.uid, tag];
  };
  const at = (host: string) => [`date-${me.id}-${dateId}@${host}`, host];
  expect(await readFrom('http://localhost:3000')).toEqual(at('localhost'));
  expect(await readFrom('https://first.example')).toEqual(at('first.example'));
  expect(await readFrom('https://second.example')).toEqual(at('first.example'));
  expect(await readFrom('http://localhost:3000')).toEqual(at('first.example'));
  // Of a server that started before the database was migrated, too.
  const readHost = () => runSql(name, 'select uid_host from service_state');
  const storeHost = (host: string | null) => runSql(name, 'update service_state set uid_host = $1', [host]);
  await storeHost(null);
  const [latest] = await runSql<{ hash: string; created_at: string }>(
    name,
    `delete from drizzle.__drizzle_migrations where id = (select max(id) from drizzle.__drizzle_migrations)
      returning hash, created_at`,
  );
  const insert = 'insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)';
  const migrate = async () => {
    await runSql(name, insert, [latest!.hash, latest!.created_at]);
    await expect.poll(readHost).toEqual([{ uid_host: 'first.example' }]);
  };
  expect(await readFrom('https://first.example', migrate)).toEqual(at('first.example'));
  expect(await readFrom('https://second.example')).toEqual(at('first.example'));
  // The command that migrates stores it, before a server reads that the database is migrated.
  for (const host of [null, 'first.example']) {
    await storeHost(host);
    const { code } = await runCli(['migrate'], {
      DATABASE_URL: databaseUrl(name),
      PUBLIC_URL: 'https://third.example',
    });
    expect([code, await readFrom('https://second.example')]).toEqual([0, at(host ?? 'third.example')]);
  }
});
