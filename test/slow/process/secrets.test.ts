import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { invite, startMailServer, openMailTestApp, smtpError } from '../../support/mail.ts';
import { createUser } from '../../support/orders.ts';
import { createLinkToken, createUserToken } from '../../support/pages.ts';
import { isSignedBy, startReceiver } from '../../support/webhooks.ts';
import { runCli, findProcessesByArgument, startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';

const databasePassword = 'database-Pa55word';
const smtpPassword = 'smtp-Pa55word';
const metricsToken = 'metrics-Pa55word-token';
const bootstrapKey = `bootstrap-key-${'k'.repeat(30)}`;
const wrongKey = `wrong-key-${'w'.repeat(30)}`;
const password = 'fjord-and-forest-1';
const otherPassword = 'mountain-and-moor-2';
const wrongPassword = 'wrong-Pa55word';
const urlToken = 'tok3n-Pa55word-of-a-receiver';
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A URL with a password, which the server ignores since it trusts local connections. */
const withPassword = (url: string) =>
  url.replace(/^postgres:\/\/([^:@]*)(:[^@]*)?@/, `postgres://$1:${databasePassword}@`);

/** True if an output contains a secret, or a truncated one as quoted by parsers. */
function shownIn(secrets: string[], where: Record<string, string>) {
  return Object.entries(where).flatMap(([place, text]) =>
    secrets.filter((secret) => text.includes(secret.slice(0, 10))).map((secret) => `${secret} in ${place}`),
  );
}

async function started(env: Record<string, string> = {}) {
  const testApp = await openMailTestApp();
  const settings = {
    DATABASE_URL: withPassword(databaseUrl(testApp.name)),
    DATA_DIR: temporaryFolder(),
    LOG_FORMAT: 'pretty',
    LOG_LEVEL: 'trace',
    LOG_REQUESTS: 'all',
    METRICS_TOKEN: metricsToken,
    BOOTSTRAP_PROVIDER: 'First',
    BOOTSTRAP_API_KEY: bootstrapKey,
    WEBHOOK_ALLOW: '127.0.0.1',
    ...env,
  };
  const server = await startServer(settings);
  return { ...testApp, settings, server };
}

/** Creates a webhook, replaces its secret, and lets it fail until it is disabled. Returns its id and its secrets. */
async function failWebhook(serverUrl: string, apiKey: string) {
  const receiver = await startReceiver((_message, n) => (n === 1 ? 500 : 410));
  const url = `${receiver.url}?token=${urlToken}`;
  const send = async (method: string, path: string, fields: object = {}) => {
    const response = await fetch(`${serverUrl}/v2/webhooks${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    expect(response.ok, path).toBe(true);
    return (await response.json()) as { id: number; secret: string };
  };
  const { id, secret } = await send('POST', '', { url });
  const rotated = await send('POST', `/${id}/rotate`);
  const tag = { method: 'POST', headers: { 'x-api-key': apiKey }, body: new URLSearchParams({ title: 'Tag' }) };
  expect((await fetch(`${serverUrl}/v2/course-tags`, tag)).status).toBe(201);
  await expect.poll(() => receiver.received.length).toBe(1);
  await send('PUT', `/${id}`, { is_active: true });
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(receiver.received.every((message) => isSignedBy(secret, message) && isSignedBy(rotated.secret, message))).toBe(
    true,
  );
  return { webhookId: String(id), webhookSecrets: [secret, rotated.secret, urlToken] };
}

test('no key, password or link is in the log, the responses or the process title', async () => {
  const smtp = await startMailServer({
    authOptional: false,
    // A server that quotes its input.
    onAuth: ({ password: said }, _session, done) => done(smtpError(535, `5.7.8 ${said} is not the password`)),
  });
  const SMTP_URL = smtp.url.replace('://', `://booking:${smtpPassword}@`);
  const { server, settings, database, createProvider } = await started({ SMTP_URL });
  const me = await createProvider();
  const userId = await createUser(me, { username: 'kari', email: 'kari@x.example' });
  const provider = ['--provider', String(me.id)];
  const set = await runCli(['user', 'set-password', ...provider, '--user', String(userId)], settings, `${password}\n`);
  expect(set.code, set.stderr).toBe(0);
  const created = await runCli(['key', 'create', ...provider, '--json'], settings);
  const { api_key: apiKey, key_id: keyId } = created.json<{ api_key: string; key_id: number }>();
  const [signIn, choose] = [
    await createUserToken(me, 'sign_in', userId),
    await createUserToken(me, 'password', userId),
  ];
  const { dateId } = await createBookableDate(me);
  const bookingId = Number((await bookOrFail(me, dateId)).booking_id);
  const booking = await createLinkToken(me, { bookingId });
  await invite(me, 'siv@x.example');

  const responses: string[] = [];
  const request = async (path: string, how: RequestInit = {}, expected?: number) => {
    const response = await fetch(`${server.url}${path}`, { redirect: 'manual', ...how });
    const text = await response.text();
    if (expected !== undefined) expect([path, response.status, text]).toEqual([path, expected, text]);
    responses.push(`${JSON.stringify([...response.headers])} ${text}`);
    return text;
  };
  const json = (key: string, body: string) => ({
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body,
  });
  const credentials = (input: string) => JSON.stringify({ username: 'kari', password: input, create_login_url: false });
  const parts = new FormData();
  parts.set('title', '');
  for (const key of [bootstrapKey, apiKey, me.apiKey]) {
    await request('/v2/courses', { headers: { 'x-api-key': key } }, 200);
    await request('/v2/courses', json(key, `{"title": "${key}`), 400);
    await request('/v2/courses', json(key, JSON.stringify({ title: 5, level: key, tags: key })), 400);
    await request(`/v2/courses?limit=${key}`, { headers: { 'x-api-key': key } }, 400);
    await request('/v2/courses', json(key, key), 400);
    await request('/v2/courses', { method: 'POST', headers: { 'x-api-key': key }, body: parts }, 400);
    await request('/courses', json(key, `{"api_key": "${key}", "title": `), 400);
    await request(`/v2/${key}`, { headers: { 'x-api-key': key } }, 404);
  }
  for (const path of ['/v2/courses', '/schools', '/v2/booking'])
    await request(path, { headers: { 'x-api-key': wrongKey } }, 401);
  await request('/v2/check-user-credentials', json(apiKey, credentials(password)), 200);
  await request('/v2/check-user-credentials', json(apiKey, credentials(wrongPassword)), 200);
  await request('/v2/check-user-credentials', json(apiKey, credentials(password).slice(0, -1)), 400);
  await request('/v2/check-user-credentials', json(wrongKey, credentials(password)), 401);
  const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });
  await request(`/my/password/${choose}`, form({ password: otherPassword, repeated: wrongPassword }), 400);
  await request(`/my/password/${choose}`, form({ password: otherPassword, repeated: otherPassword }), 303);
  await request(`/my/sign-in/${signIn}`, {}, 410);
  await request(`/my/password/${choose}%ff`, {}, 410);
  await request(`/my/booking/${booking}`, {}, 200);
  await request(`/my/offer/${booking}`, form({ answer: booking! }), 410);

  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  await request('/metrics', bearer(wrongKey), 401);
  expect(await request('/metrics', bearer(metricsToken), 200)).toContain('route="/my/password/:token"');

  const unreachable = JSON.stringify({ url: `http://10.0.0.1/hooks?token=${urlToken}` });
  await request('/v2/webhooks', json(apiKey, unreachable), 400);
  const { webhookId, webhookSecrets } = await failWebhook(server.url, apiKey);
  await expect.poll(() => server.output()).toContain('is disabled');
  await request(`/v2/webhooks/${webhookId}/deliveries`, { headers: { 'x-api-key': apiKey } }, 200);

  // Without the table every query of it fails and logs an error.
  await database.pool.query('alter table courses rename to away');
  await request('/v2/courses', json(apiKey, JSON.stringify({ title: apiKey, text_lead: password })));
  await request('/v2/courses', { headers: { 'x-api-key': apiKey } });
  await request(`/my/booking/${booking}`, form({ firstname_1: booking! }), 503);
  await database.pool.query('alter table away rename to courses');
  await database.pool.query("alter table course_users add constraint never check (username = '') not valid");
  const link = `/my/password/${await createUserToken(me, 'password', userId)}`;
  await request(link, form({ password, repeated: password }), 500);
  await expect.poll(() => server.output()).toContain('could not be sent');
  expect((await runCli(['key', 'revoke', String(keyId)], settings)).code).toBe(0);
  await request('/v2/courses', { headers: { 'x-api-key': apiKey } }, 401);

  const { rows } = await database.pool.query<{ all: string }>(
    `select coalesce((select json_agg(o)::text from outbox o), '') || (select json_agg(e)::text from audit_entries e) as all`,
  );
  const secrets = [
    ...[
      metricsToken,
      databasePassword,
      smtpPassword,
      base64(smtpPassword),
      base64(`\0booking\0${smtpPassword}`),
      bootstrapKey,
    ],
    ...[
      apiKey,
      me.apiKey,
      wrongKey,
      password,
      otherPassword,
      wrongPassword,
      signIn,
      choose,
      booking!,
      link.split('/').at(-1)!,
    ],
    ...webhookSecrets,
  ];
  const listed = await runCli(['mail', 'list', '--json'], settings);
  const audit = await runCli(['audit', 'list', '--json'], settings);
  const keys = await runCli(['key', 'list', ...provider, '--json'], settings);
  expect(
    shownIn(secrets, {
      log: server.output() + server.errors(),
      responses: responses.join('\n'),
      'outbox and audit log': rows[0]!.all,
      'command line': listed.stdout + audit.stdout + keys.stdout + set.stdout + set.stderr,
    }),
  ).toEqual([]);
  expect(server.output()).toContain('failed');
  expect(server.output()).toContain('GET /v2/courses 200');
  expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).toBe(`${process.execPath}\0dist/main.js\0`);
  expect(secrets.flatMap((secret) => findProcessesByArgument(secret))).toEqual([]);
});

test.each([
  ['nobody listens', `postgres://booking:${databasePassword}@127.0.0.1:1/booking`],
  ['a port that is none', `postgres://booking:${databasePassword}@127.0.0.1:port/booking`],
  ['a host that is none', `postgres://booking:${databasePassword}@[::/booking`],
  ['a broken percent', `postgres://booking:${databasePassword}%zz@127.0.0.1:1/booking`],
  ['another scheme', `mysql://booking:${databasePassword}@127.0.0.1/booking`],
  ['no such database', ''],
])('a DATABASE_URL with %s is rejected without printing its password', async (_name, input) => {
  const DATABASE_URL = input || withPassword(databaseUrl('no_such_database'));
  const env = { DATABASE_URL, LOG_LEVEL: 'trace', LOG_FORMAT: 'json' };
  const server = await startServer(env);
  const command = await runCli(['provider', 'list'], env);
  expect([await server.ended, command.code]).toEqual([1, 1]);
  const said = { server: server.output() + server.errors(), command: command.stdout + command.stderr };
  expect(shownIn([databasePassword], said)).toEqual([]);
  expect(said.command.trim().split('\n')).toHaveLength(1);
});

test.each([
  ['SMTP_URL', `smtp://booking:${smtpPassword}%zz@127.0.0.1`],
  ['SMTP_URL', `http://booking:${smtpPassword}@127.0.0.1`],
  ['BOOTSTRAP_API_KEY', bootstrapKey],
  ['BOOTSTRAP_API_KEY', `${bootstrapKey} and a blank`],
])('an invalid %s is not printed', async (name, value) => {
  const server = await startServer({ DATABASE_URL: databaseUrl(inject('shared')), [name]: value, LOG_LEVEL: 'trace' });
  expect(await server.ended).toBe(1);
  expect(server.errors()).toContain(name);
  expect(shownIn([smtpPassword, bootstrapKey], { server: server.output() + server.errors() })).toEqual([]);
});

const env = {
  DATABASE_URL: withPassword('postgres://booking@127.0.0.1:1/booking'),
  SMTP_URL: `smtp://booking:${smtpPassword}@127.0.0.1:1`,
  BOOTSTRAP_API_KEY: bootstrapKey,
  BOOTSTRAP_PROVIDER: 'First',
};

test('--help does not show configured values', async () => {
  const subcommandsOf = (help: string) =>
    [...(help.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!);
  const seen: string[] = [];
  const visit = async (path: string[]) => {
    const { code, stdout, stderr } = await runCli([...path, '--help'], env);
    expect([path, code]).toEqual([path, 0]);
    seen.push(path.join(' '));
    expect(shownIn([databasePassword, smtpPassword, bootstrapKey], { [path.join(' ')]: stdout + stderr })).toEqual([]);
    const below = subcommandsOf(stdout).filter((name) => name !== 'help');
    await Promise.all(below.map((name) => visit([...path, name])));
  };
  await visit([]);
  expect(seen).toContain('key create');
  expect(seen).toContain('audit list');
});

test('the process list shows no secret of a running command', async () => {
  const child = spawn(process.execPath, ['dist/cli.js', 'provider', 'list'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((done) => child.on('exit', () => done()));
  await new Promise((done) => setTimeout(done, 1_500));
  const named = readFileSync(`/proc/${child.pid!}/cmdline`, 'utf8');
  expect(named).toContain('provider');
  for (const secret of [databasePassword, smtpPassword, bootstrapKey]) {
    expect(named).not.toContain(secret);
    expect(findProcessesByArgument(secret)).toEqual([]);
  }
  child.kill();
  await ended;
});
