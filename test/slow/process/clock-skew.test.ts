import { expect, onTestFinished, test } from 'vitest';
import { startClockCheck } from '../../../src/database/clock.ts';
import { bookWithReceipt, eventually, openMailTestApp, readOutbox } from '../../support/mail.ts';
import { runCli, databaseUrl } from '../../support/processes.ts';
import { send } from '../../support/test-app.ts';

const setClock = (seconds: number, providerId: number) =>
  [
    `update provider_state set changed_at = clock_timestamp() + $1 * interval '1 second' where provider_id = $2`,
    [seconds, providerId],
  ] as [string, number[]];

test('/ready, doctor and the log warn of a clock that is more than a minute ahead', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const other = await testApp.createProvider();
  const ready = async () => (await send(testApp.app, { method: 'GET', url: '/ready' })).json();
  const doctor = (...args: string[]) =>
    runCli(['doctor', '--only', 'data', ...args], { DATABASE_URL: databaseUrl(testApp.name) });

  await testApp.database.pool.query(...setClock(50, me.id));
  expect(await ready()).toEqual({ status: 'ready' });
  expect((await doctor('--json')).json()).toMatchObject({ clocks_ahead: [] });

  await testApp.database.pool.query(...setClock(86_400, me.id));
  const warning = expect.stringMatching(
    /^1 stored clock is ahead of the database's clock, by up to 86\d{3} s: `doctor` lists them$/,
  );
  expect(await ready()).toEqual({ status: 'ready', warnings: [warning] });
  const found = await doctor('--json');
  expect([found.code, found.json()]).toMatchObject([
    0,
    { differences: [], clocks_ahead: [{ provider_id: me.id, seconds: expect.any(Number) }] },
  ]);
  expect((await doctor()).stdout).toMatch(
    /\nWarning: 1 stored clock is ahead[^\n]*\nprovider_id +seconds\n\d+ +86\d{3}\n$/,
  );
  expect((await doctor('--provider', String(other.id), '--json')).json()).toMatchObject({ clocks_ahead: [] });

  const log: string[] = [];
  onTestFinished(startClockCheck(testApp.database, { warn: (line: unknown) => void log.push(String(line)) } as never));
  await eventually(() => expect(log).toEqual([warning]));
});

test("a mail is due immediately by the real clock, not the booking's timestamp", async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await testApp.database.pool.query(...setClock(365 * 86_400, me.id));
  await bookWithReceipt(me);
  await me.post('/v2/admin-users', { email: 'new@people.example', firstname: 'N', lastname: 'N', role_ids: [1] });
  const mails = await readOutbox(testApp);
  expect(mails.map(({ purpose, dueIn }) => [purpose, dueIn <= 0])).toEqual([
    ['receipt', true],
    ['invitation', true],
  ]);
});
