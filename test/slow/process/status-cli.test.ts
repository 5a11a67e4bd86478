import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { emptyDatabase } from '../../support/backups.ts';
import { invite } from '../../support/mail.ts';
import { databaseUrl, runCli, temporaryFolder } from '../../support/processes.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { createTag, createWebhook } from '../../support/webhooks.ts';

test('status shows the version, schools, queues, the last backup, disks and the findings of doctor', async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const BACKUP_DIR = temporaryFolder();
  const env = { DATABASE_URL: databaseUrl(name), DATA_DIR: temporaryFolder(), BACKUP_DIR, BACKUP_AT: 'elsewhere' };
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  expect((await runCli(['provider', 'close', String(other.id)], env)).code).toBe(0);
  await invite(me, 'kari@x.example');
  await createWebhook(me, { url: 'http://127.0.0.1:65535/hooks' });
  await createTag(me, 'Waits');
  const { pool } = testApp.database;
  await pool.query("update outbox set created_at = created_at - interval '3 hours'");
  await pool.query("update events set at = at - interval '2 hours'");
  expect((await runCli(['backup'], env)).code).toBe(0);
  const [file = ''] = readdirSync(BACKUP_DIR).filter((one) => one.endsWith('.zip'));

  const { code, stdout } = await runCli(['status'], env);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^version +\d+\.\d+\.\d+/)]);
  const expected = [
    /^migrations +All \d+ are applied$/m,
    /^schools +1 open, 1 closed$/m,
    /^mails +1 waiting, the oldest 3 hours old$/m,
    /^webhooks +1 working, 0 failing, 0 disabled, the oldest 2 hours old$/m,
    new RegExp(`^backup +The last backup is \\d+ (second|minute)s? old\\n +\\(${file}\\)$`, 'm'),
    /^free +\d.* [GM]B \(.*data/m,
    /^database +\d+ MB$/m,
    // The server of the tests.
    /^error: server settings: fsync is off/m,
    /^warning: mail: The oldest unsent mail is 3 hours old$/m,
  ];
  for (const line of expected) expect(stdout).toMatch(line);
  expect(stdout).not.toContain(': ok');

  const status = (await runCli(['status', '--json'], env)).json<Record<string, any>>();
  expect(status).toMatchObject({
    schools: { open: 1, closed: 1 },
    mails: { waiting: 1 },
    webhooks: { by_state: { working: 1, failing: 0, disabled: 0 } },
    backup: { age_seconds: expect.any(Number) as number },
    disks_free_bytes: { data: expect.any(Number) as number, backups: expect.any(Number) as number },
    database_bytes: expect.any(Number) as number,
  });
  for (const { oldest_seconds: seconds } of [status['mails'], status['webhooks']])
    expect(seconds).toBeGreaterThan(7_000);
  const { checks } = (await runCli(['doctor', '--only', 'system', '--json'], env)).json<{ checks: Finding[] }>();
  const names = (findings: Finding[]) => findings.map(({ level, check }) => `${level} ${check}`);
  expect(names(status['findings'])).toEqual(names(checks.filter(({ level }) => /warning|error/.test(level))));
});
type Finding = { level: string; check: string };

test('status of a sound database finds nothing', async () => {
  const env = { DATA_DIR: join(temporaryFolder(), 'data'), RATE_LIMIT_PER_SECOND: '50', SMTP_URL: 'smtp://127.0.0.1' };
  expect((await runCli(['migrate'], env)).code).toBe(0);
  expect((await runCli(['backup'], env)).code).toBe(0);
  const { code, stdout } = await runCli(['status'], env);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/\nschools +0 open, 0 closed\n[^]*\n\ndoctor finds nothing\n$/),
  ]);
});

test('status shows a database without tables, and fails without a database', async () => {
  const { code, stdout } = await runCli(['status'], { DATABASE_URL: databaseUrl(await emptyDatabase()) });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^migrations +\d+ of \d+ are pending: run `migrate`$/m)]);
  expect(stdout).toMatch(/^mails +unknown$/m);
  expect(stdout).not.toMatch(/^schools/m);
  const env = { DATABASE_URL: 'postgres://x@127.0.0.1:1/none' };
  expect(await runCli(['status'], env)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: the database cannot be reached (ECONNREFUSED)\n',
  });
});
