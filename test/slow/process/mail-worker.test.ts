import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { expect, test, vi } from 'vitest';
import { findTokenOwner } from '../../../src/domains/school/auth/token-service.ts';
import {
  allSent,
  bookWithReceipt,
  eventually,
  invite,
  startMailServer,
  openMailTestApp,
  makeDue,
  readOutbox,
  smtpError,
  extractToken,
  forced,
} from '../../support/mail.ts';
import { createUser } from '../../support/orders.ts';
import { runCli, startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import type { Provider } from '../../support/test-app.ts';

// Each starts several processes.
vi.setConfig({ testTimeout: 120_000 });

/** A test app, and the environment of a server on its database. */
async function openProcessTestApp(env: Record<string, string> = {}) {
  const testApp = await openMailTestApp();
  return {
    ...testApp,
    env: {
      DATABASE_URL: databaseUrl(testApp.name),
      DATA_DIR: temporaryFolder(),
      LOG_FORMAT: 'pretty',
      MAIL_TO_FILES: 'true',
      ...env,
    },
  };
}

test('mails wait for a server with a mail server, and one in a file is not sent', async () => {
  const { env, database, createProvider, ...testApp } = await openProcessTestApp();
  const me = await createProvider();
  const list = async (more: Record<string, string>) =>
    (await runCli(['mail', 'list', '--json'], { ...env, ...more })).json<Record<string, unknown>[]>();
  await invite(me, 'one@people.example');

  const without = { MAIL_TO_FILES: 'false' };
  const waiting = await startServer({ ...env, ...without });
  expect(waiting.output()).toContain('Mails wait: no mail server is set. Set SMTP_URL, or MAIL_TO_FILES=true');
  expect(await list(without)).toMatchObject([{ state: 'waiting', last_error: 'no mail server is set', attempts: 0 }]);

  // Another server of the database has one.
  const smtp = await startMailServer();
  const sending = await startServer({ ...env, ...without, SMTP_URL: smtp.url });
  await eventually(() => expect(smtp.received).toHaveLength(1));
  await allSent({ ...testApp, database });
  expect(await list(without)).toMatchObject([{ state: 'sent', written_at: null, last_error: null }]);
  expect(existsSync(join(env.DATA_DIR, 'mail'))).toBe(false);

  sending.child.kill('SIGTERM');
  await sending.ended;
  await invite(me, 'two@people.example');
  await startServer(env);
  await eventually(async () => {
    const [mail] = await list({});
    expect(mail).toMatchObject({ state: 'written', sent_at: null, written_at: expect.any(String) as string });
  });
  const [mail] = await list({});
  expect(await runCli(['mail', 'retry', String(mail!['mail_id'])], env)).toMatchObject({
    code: 1,
    stderr: `error: Mail ${String(mail!['mail_id'])} is written to a file already\n`,
  });
});

test('without a mail server each mail is written to a file within 3 seconds; the log has its name but no link', async () => {
  const { env, database, createProvider } = await openProcessTestApp({ PUBLIC_URL: 'https://booking.example/school' });
  const me = await createProvider('Øystese kurs');
  const server = await startServer(env);
  const folder = join(env.DATA_DIR, 'mail');
  expect(server.output()).toContain(`Mails go to files in ${folder}, since SMTP_URL is not set`);

  const seen = new Map<string, string>();
  const watch = setInterval(() => {
    for (const file of readdirSync(folder)) {
      if (!seen.has(file)) seen.set(file, readFileSync(join(folder, file), 'utf8'));
    }
  }, 1);
  const since = performance.now();
  for (let n = 0; n < 20; n += 1) await invite(me, `person-${n}@people.example`);
  await eventually(() => expect(seen.size).toBe(20));
  clearInterval(watch);
  expect(performance.now() - since).toBeLessThan(3_000 + 20 * 200);

  expect([...seen.keys()].filter((file) => !/^\d{8}T\d{6}Z-\d+\.eml$/.test(file))).toEqual([]);
  for (const [file, content] of seen) {
    expect(content).toBe(readFileSync(join(folder, file), 'utf8'));
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(server.output()).toContain(join(folder, file));
    const mail = await PostalMime.parse(content);
    expect(mail).toMatchObject({ from: { name: 'Øystese kurs', address: 'no-reply@booking.example' } });
    expect(mail.text).toContain('https://booking.example/school/my/password/');
    expect(await findTokenOwner(database.unlocked, 'password', extractToken(mail.text))).toMatchObject({
      providerId: me.id,
    });
    expect(server.output() + server.errors()).not.toContain(extractToken(mail.text));
  }
});

test('a mail is sent within 3 seconds of its commit, in the language of the service', async () => {
  const smtp = await startMailServer();
  const { env, createProvider } = await openProcessTestApp({
    SMTP_URL: smtp.url.replace('//', '//booking:sesam@'),
    MAIL_FROM: 'kurs@oystese.example',
    DEFAULT_LANGUAGE: 'no',
    LOG_LEVEL: 'trace',
  });
  const me = await createProvider();
  const server = await startServer(env);
  expect(server.output()).toContain(`Mails go to the server ${smtp.url}`);
  await new Promise((done) => setTimeout(done, 500));
  await bookWithReceipt(me);
  const committed = performance.now();
  await eventually(() => expect(smtp.received).toHaveLength(1));
  expect(performance.now() - committed).toBeLessThan(3_000);
  expect(smtp.received[0]).toMatchObject({
    from: { address: 'kurs@oystese.example' },
    subject: expect.stringContaining('Påmeldingen din'),
  });
  expect(server.output() + server.errors()).not.toContain('sesam');
  expect(readdirSync(env.DATA_DIR)).toEqual([]);
});

test('a mail is sent again by another server if the first is killed while sending', async () => {
  let arrived = 0;
  const smtp = await startMailServer();
  // Accepts the mail, but the server dies before it reads the reply.
  const silent = await startMailServer({ onData: (stream) => void text(stream).then(() => (arrived += 1)) });
  const testApp = await openProcessTestApp();
  await invite(await testApp.createProvider(), 'ase@people.example');
  const first = await startServer({ ...testApp.env, SMTP_URL: silent.url });
  await eventually(() => expect(arrived).toBe(1));
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await readOutbox(testApp)).toMatchObject([{ sent: false, attempts: 1 }]);

  await startServer({ ...testApp.env, SMTP_URL: smtp.url });
  await new Promise((done) => setTimeout(done, 1_500));
  expect(smtp.received).toEqual([]);
  await makeDue(testApp);
  await allSent(testApp);
  expect(smtp.received).toHaveLength(1);
  expect(arrived).toBe(1);
});

test('a mail that is sent twice has one Message-ID', async () => {
  const testApp = await openProcessTestApp();
  const smtp = await startMailServer();
  await invite(await testApp.createProvider(), 'ase@people.example');
  await startServer({ ...testApp.env, SMTP_URL: smtp.url });
  await allSent(testApp);
  await testApp.database.pool.query('update outbox set sent_at = null, due_at = now()');
  await allSent(testApp);
  const [first, second] = smtp.received;
  expect(first!.messageId).toBe(second!.messageId);
  expect(extractToken(first!.text)).not.toBe(extractToken(second!.text));
});

test('a stopping server finishes the current mail and starts no other', async () => {
  let receiving = false;
  const smtp = await startMailServer({
    onMailFrom: (_address, _session, done) => {
      receiving = true;
      setTimeout(done, 1_000);
    },
  });
  const testApp = await openProcessTestApp({ SMTP_URL: smtp.url });
  const me = await testApp.createProvider();
  await invite(me, 'ase@people.example');
  const server = await startServer(testApp.env);
  await eventually(() => expect(receiving).toBe(true));
  server.child.kill('SIGTERM');
  await invite(me, 'ola@people.example');
  expect(await server.ended).toBe(0);
  expect(smtp.received).toHaveLength(1);
  expect((await readOutbox(testApp)).map(({ sent }) => sent)).toEqual([true, false]);
});

test('a slow mail server gets a mail once, even during a shutdown', async () => {
  let receiving = false;
  const smtp = await startMailServer({
    onMailFrom: (_address, _session, done) => {
      receiving = true;
      setTimeout(done, 3_000);
    },
  });
  const testApp = await openProcessTestApp({ SMTP_URL: smtp.url, SHUTDOWN_TIMEOUT_MS: '200' });
  await invite(await testApp.createProvider(), 'ase@people.example');
  const server = await startServer(testApp.env);
  await eventually(() => expect(receiving).toBe(true));
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(smtp.received).toHaveLength(1);
  expect(await readOutbox(testApp)).toMatchObject([{ sent: true, attempts: 1 }]);
});

test.each([
  ['takes them', {}, 0],
  ['hangs', { onMailFrom: () => undefined }, 800],
] satisfies [string, Parameters<typeof startMailServer>[0], number][])(
  'a stop with 800 waiting mails does not wait for a mail server that %s',
  async (_case, behaviour, waiting) => {
    const smtp = await startMailServer(behaviour);
    const testApp = await openProcessTestApp({ SMTP_URL: smtp.url });
    const me = await testApp.createProvider();
    await invite(me, 'ase@people.example');
    await forced(
      me,
      `insert into outbox (provider_id, purpose, admin_user_id, created_at, due_at)
        select provider_id, purpose, admin_user_id, created_at, due_at from outbox, generate_series(2, 800)`,
    );
    const server = await startServer({ ...testApp.env, MAIL_RATE: '60' });
    await eventually(async () => expect((await readOutbox(testApp)).some(({ attempts }) => attempts > 0)).toBe(true));
    const timeout = new Promise((done) => setTimeout(done, 10_000, 'still runs'));
    server.child.kill('SIGTERM');
    expect(await Promise.race([server.ended, timeout])).toBe(0);
    // Those in flight are sent again.
    const unsent = (await readOutbox(testApp)).filter(({ sent }) => !sent);
    expect(unsent.filter(({ failed }) => failed)).toEqual([]);
    if (waiting > 0) expect(unsent).toHaveLength(waiting);
  },
);

test('the command line lists and retries mails', async () => {
  const testApp = await openProcessTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  let notValidResponse = true;
  const smtp = await startMailServer({
    onRcptTo: (_a, _s, done) => done(notValidResponse ? smtpError(550, '5.2.2 Mailbox full') : null),
  });
  for (const [provider, email] of [
    [me, 'a'],
    [me, 'b'],
    [other, 'c'],
  ] as const)
    await invite(provider, `${email}@people.example`);
  const run = (...args: string[]) => runCli(['mail', ...args], testApp.env);

  const waiting = (await run('list', '--json')).json<Record<string, unknown>[]>();
  expect(waiting.map(({ email }) => email)).toEqual(['c', 'b', 'a'].map((name) => `${name}@people.example`));
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
  const mail = { mail_id: expect.any(Number), provider_id: other.id, purpose: 'invitation', email: 'c@people.example' };
  expect(waiting[0]).toEqual({
    ...mail,
    state: 'waiting',
    attempts: 0,
    created_at: moment,
    due_at: moment,
    sent_at: null,
    written_at: null,
    failed_at: null,
    last_error: null,
  });
  expect((await run('list', '--failed')).stdout).toContain('No mail failed permanently');
  expect((await run('list', '--provider', String(me.id), '--limit', '1', '--json')).json()).toHaveLength(1);
  expect(await run('list', '--provider', '999999')).toMatchObject({
    code: 1,
    stderr: 'error: Provider 999999 not found\n',
  });
  const ids = waiting.map(({ mail_id }) => String(mail_id));
  expect(await run('retry', ids[0]!)).toMatchObject({
    code: 1,
    stderr: `error: Mail ${ids[0]} waits for its first try already\n`,
  });

  await startServer({ ...testApp.env, SMTP_URL: smtp.url });
  await eventually(async () => expect((await readOutbox(testApp)).every(({ failed }) => failed)).toBe(true));
  const failed = (await run('list', '--failed', '--json')).json();
  expect(failed).toHaveLength(3);
  expect(failed[0]).toMatchObject({
    ...mail,
    state: 'failed',
    attempts: 1,
    due_at: null,
    failed_at: moment,
    last_error: expect.stringContaining('550'),
  });

  notValidResponse = false;
  expect((await run('retry', ids[0]!, '--json')).json()).toEqual({ retried: 1 });
  await eventually(() => expect(smtp.received.map(({ to }) => to![0]!.address)).toEqual(['c@people.example']));
  expect((await run('retry', '--all-failed', '--since', '2999-01-01', '--json')).json()).toEqual({ retried: 0 });
  expect((await run('retry', '--all-failed', '--since', '2026-01-01', '--json')).json()).toEqual({ retried: 2 });
  await allSent(testApp);
  expect(smtp.received).toHaveLength(3);
  expect((await run('retry', '--all-failed')).stdout).toBe('Mails queued for retry: 0\n');
  expect(await run('retry', '--all-waiting', '--since', '2026-01-01')).toMatchObject({
    ...{ code: 2, stderr: 'error: --since is for --all-failed\n' },
  });
  expect(await run('retry', ids[0]!)).toMatchObject({ code: 1, stderr: `error: Mail ${ids[0]} is sent already\n` });
  expect(await run('retry', '999999')).toMatchObject({ code: 1, stderr: 'error: Mail 999999 not found\n' });
  for (const args of [['retry'], ['retry', '1', '--all-failed'], ['retry', '--all-failed', '--all-waiting']]) {
    expect(await run(...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: specify either a mail id, --all-failed or --all-waiting\n',
    });
  }
});

test('retrying a mail that is being sent is rejected with the reason', async () => {
  let arrived = false;
  const smtp = await startMailServer({ onMailFrom: () => void (arrived = true) });
  const testApp = await openProcessTestApp({ SMTP_URL: smtp.url });
  await invite(await testApp.createProvider(), 'ase@people.example');
  const server = await startServer(testApp.env);
  await eventually(() => expect(arrived).toBe(true));
  const [mail] = await readOutbox(testApp);
  expect(await runCli(['mail', 'retry', String(mail!.id)], testApp.env)).toMatchObject({
    code: 1,
    stderr: `error: Mail ${mail!.id} is being sent just now\n`,
  });
  server.child.kill('SIGKILL');
});

test('the command line mails people a new link to choose a password', async () => {
  const smtp = await startMailServer();
  const testApp = await openProcessTestApp({ SMTP_URL: smtp.url });
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const userId = await createUser(me, { username: 'kari', email: 'kari@people.example' });
  const mute = await createUser(me, { email: null });
  const adminUserId = (await invite(me, 'ase@people.example', { send_invite: false })).json<{ id: number }>().id;
  const run = (provider: Provider, ...args: (string | number)[]) =>
    runCli(['user', 'invite', '--provider', String(provider.id), ...args.map(String)], testApp.env);

  const response = await run(me, '--user', userId, '--json');
  const [mail] = await readOutbox(testApp);
  expect(response.json()).toEqual({ mail_id: mail!.id, email: 'kari@people.example' });
  expect((await run(me, '--admin-user', adminUserId)).stdout).toBe(
    `Queued mail ${mail!.id + 1} with a link to ase@people.example\n`,
  );
  for (const [provider, args, code, said] of [
    [other, ['--user', userId], 1, `Course user ${userId} not found`],
    [other, ['--admin-user', adminUserId], 1, `Admin user ${adminUserId} not found`],
    [me, ['--user', mute], 1, `Course user ${mute} has no e-mail address to write to`],
    [me, [], 2, 'specify either --user or --admin-user'],
    [me, ['--user', userId, '--admin-user', adminUserId], 2, 'specify either --user or --admin-user'],
  ] as const) {
    expect(await run(provider, ...args)).toMatchObject({ code, stdout: '', stderr: `error: ${said}\n` });
  }

  await startServer(testApp.env);
  await allSent(testApp);
  const owners = smtp.received.map(async ({ to, text: letter }) => [
    to![0]!.address,
    await findTokenOwner(testApp.database.unlocked, 'password', extractToken(letter)),
  ]);
  expect(Object.fromEntries(await Promise.all(owners))).toEqual({
    'kari@people.example': { providerId: me.id, userId, adminUserId: null },
    'ase@people.example': { providerId: me.id, userId: null, adminUserId },
  });
});

test.each([
  [{ SMTP_URL: 'mail.example' }, 'SMTP_URL must be an smtp or smtps address'],
  [{ SMTP_URL: 'https://user:sesam@mail.example' }, 'SMTP_URL must be an smtp or smtps address'],
  [{ SMTP_URL: 'smtp://user:sesam%zz@mail.example' }, 'SMTP_URL must be an smtp or smtps address'],
  [{ MAIL_FROM: 'School <school@mail.example>' }, 'MAIL_FROM must be an e-mail address alone'],
])('%j is rejected at start without printing a password', async (env, said) => {
  const server = await startServer({ DATABASE_URL: 'postgres://127.0.0.1:1/none', ...env });
  expect(await server.ended).toBe(1);
  expect(server.errors()).toContain(said);
  expect(server.errors()).not.toContain('sesam');
});
