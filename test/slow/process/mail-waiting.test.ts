import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { eventually, invite, openMailTestApp, readOutbox, startMailServer } from '../../support/mail.ts';
import { databaseUrl, startServer, temporaryFolder } from '../../support/processes.ts';

// Each starts several processes.
vi.setConfig({ testTimeout: 120_000 });

const mails = 5;

/** Two machines serve one database, and the first one has no mail server. */
async function startWithoutMailServer(command?: string[]) {
  const testApp = await openMailTestApp();
  const env = { DATABASE_URL: databaseUrl(testApp.name), DATA_DIR: temporaryFolder(), LOG_FORMAT: 'json' };
  await startServer(env, command);
  const me = await testApp.createProvider();
  for (let n = 0; n < mails; n += 1) await invite(me, `person-${n}@people.example`);
  const smtp = await startMailServer();
  const startOther = () => startServer({ ...env, DATA_DIR: temporaryFolder(), SMTP_URL: smtp.url });
  return { testApp, folder: join(env.DATA_DIR, 'mail'), smtp, startOther };
}

test('mails of an external database wait for the machine that can send them', async () => {
  const { testApp, folder, smtp, startOther } = await startWithoutMailServer();
  const waiting = Array.from({ length: mails }, () => ({ sent: false, failed: false, attempts: 0 }));
  expect(await readOutbox(testApp)).toMatchObject(waiting);
  await startOther();
  await eventually(() => expect(smtp.received).toHaveLength(mails));
  expect(existsSync(folder)).toBe(false);
});

test('a server that writes files by default takes them away', async () => {
  const byDefault = replaceIn(
    'files-by-default',
    /delivery\/settings\.ts$/,
    'MAIL_TO_FILES ?? isEmbedded',
    'MAIL_TO_FILES ?? true',
  );
  const command = [process.execPath, await bundle('src/main.ts', [byDefault])];
  const { folder, smtp, startOther } = await startWithoutMailServer(command);
  await eventually(() => expect(readdirSync(folder)).toHaveLength(mails));
  await startOther();
  expect(smtp.received).toEqual([]);
});
