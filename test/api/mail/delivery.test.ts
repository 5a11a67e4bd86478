import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { getDeliveryCounters } from '../../../src/plugins/delivery/worker.ts';
import { retryDelayMinutes } from '../../../src/plugins/delivery/mail/endings.ts';
import { deleteOld } from '../../../src/database/housekeeping.ts';
import { findTokenOwner } from '../../../src/domains/school/auth/token-service.ts';
import { tasks } from '../../support/housekeeping.ts';
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
  startWorker,
  extractToken,
} from '../../support/mail.ts';
import { sendingBy } from '../../support/test-app.ts';

/** A scripted SMTP server: its greeting and its replies. */
async function oddServer(response: (socket: Socket, line: string | null) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    response(socket, null);
    socket.on('data', (lines) => {
      for (const line of lines.toString().split('\r\n').filter(Boolean)) response(socket, line);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const lines = (log: string[], level: string) => log.filter((line) => line.startsWith(level));

test('a temporary SMTP error is retried with exponential delay and another link, and the mail arrives once', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await invite(me, 'ase@people.example');
  let refusals = 3;
  const seen: string[] = [];
  const server = await startMailServer({
    onRcptTo: (_address, _session, done) =>
      done((refusals -= 1) >= 0 ? smtpError(451, '4.3.0 Come\r\nback later') : null),
  });
  const { log } = startWorker(testApp, { to: server.url });
  for (const minutes of [1, 2, 4]) {
    await eventually(async () =>
      expect(await readOutbox(testApp)).toMatchObject([
        { attempts: seen.length + 1, last_error: expect.any(String) as string },
      ]),
    );
    const [mail] = await readOutbox(testApp);
    expect(mail).toMatchObject({ sent: false, failed: false });
    expect(mail!.last_error).toMatch(/^[^\n]*451 4\.3\.0 Come[^\n]*$/);
    expect(mail!.dueIn / 60).toBeGreaterThan(minutes - 0.5);
    expect(mail!.dueIn / 60).toBeLessThanOrEqual(minutes);
    const { rows } = await testApp.database.pool.query<{ hash: string }>('select hash from tokens');
    seen.push(...rows.map(({ hash }) => hash));
    await makeDue(testApp);
  }
  await allSent(testApp);
  expect(new Set(seen).size).toBe(3);
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 4, last_error: null, failed: false }]);
  expect(server.received).toHaveLength(1);
  expect(
    await findTokenOwner((await me.ctx()).unlockedStore, 'password', extractToken(server.received[0]!.text)),
  ).toBeDefined();
  expect(lines(log, 'warn')).toHaveLength(3);
  expect(getDeliveryCounters(testApp.database).mails).toMatchObject({ sent: 1, retried: 3, failed: 0 });
  expect(log.join('\n')).not.toContain(extractToken(server.received[0]!.text));
});

/** True for the statement that loads a claimed mail. */
const isLoading = ({ text }: { text: string }) => text.includes(' from "outbox" inner join "providers"');

test('a mail that is deleted after its claim is dropped', async () => {
  const testApp = await openMailTestApp();
  await invite(await testApp.createProvider(), 'ase@people.example');
  const { pool } = testApp.database;
  const query = async (...args: [never]) => {
    if (isLoading(args[0])) await pool.query('delete from outbox');
    return pool.query(...args);
  };
  const server = await startMailServer();
  const { log } = startWorker({ database: sendingBy(testApp.database, query) }, { to: server.url });
  await eventually(() => expect(log.at(-1)).toMatch(/^info: Mail \d+ is dropped: it was deleted$/));
  expect(getDeliveryCounters(testApp.database).mails).toMatchObject({ dropped: 1, retried: 0 });
  expect(server.received).toEqual([]);
});

test('the invitation of an admin user who is detached meanwhile is not sent', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const invitees = ['ase@people.example', 'ole@people.example'];
  const [ase] = await Promise.all(invitees.map(async (email) => (await invite(me, email)).json<{ id: number }>().id));
  expect((await me.request('DELETE')(`/v2/admin-users/${ase}`)).status).toBe(200);
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await allSent(testApp);
  expect(server.received.map(({ to }) => to![0]!.address)).toEqual(['ole@people.example']);
  expect(log).toContainEqual(
    expect.stringMatching(/^info: Mail \d+ is dropped: its admin user is detached in the meantime$/),
  );
});

test('a mail to a course user who is erased before it is queued is not sent', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { booking_id, participants } = await bookWithReceipt(me);
  const { user } = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<{ user: { id: number } }>();
  expect((await me.post(`/v2/course-users/${user.id}/erase`, {})).status).toBe(200);
  const config = { send_receipt_email_to_participant: true };
  expect((await me.put(`/v2/booking/${booking_id}/deregister`, { config })).status).toBe(200);
  expect(await readOutbox(testApp)).toMatchObject([{ purpose: 'deregistration' }]);
  const { log } = startWorker(testApp, { to: (await startMailServer()).url });
  await eventually(() =>
    expect(log.at(-1)).toMatch(/^info: Mail \d+ is dropped: its course user is erased in the meantime$/),
  );
  expect(lines(log, 'error')).toEqual([]);
});

test('a permanently rejected recipient fails immediately', async () => {
  const testApp = await openMailTestApp();
  await invite(await testApp.createProvider(), 'nobody@people.example');
  const server = await startMailServer({
    onRcptTo: (_address, _session, done) => done(smtpError(550, '5.1.1 No such user: nobody@people.example')),
  });
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(async () => expect((await readOutbox(testApp))[0]!.failed).toBe(true));
  expect(await readOutbox(testApp)).toMatchObject([{ sent: false, attempts: 1 }]);
  expect((await readOutbox(testApp))[0]!.last_error).toContain('550 5.1.1 No such user: ***');
  // An erasure does not reach the log.
  expect(log.join('\n')).not.toContain('people.example');
  expect(lines(log, 'error')).toHaveLength(1);
});

test.each([
  ['relaying is denied', { onRcptTo: (_a, _s, done) => done(smtpError(554, '5.7.1 Relay access denied')) }, '5.7.1'],
  ['the sender is refused', { onMailFrom: (_a, _s, done) => done(smtpError(553, '5.1.8 Sender not allowed')) }, '553'],
  [
    'the text is refused',
    {
      onData: (stream, _s, done) => {
        let text = '';
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
        // Spam filters quote the link.
        stream.on('end', () => done(smtpError(554, `Spam: ${text.replaceAll('=\r\n', '').match(/http\S+/)![0]}`)));
      },
    },
    '/my/password/***',
  ],
  [
    'the password is wrong',
    {
      authOptional: false,
      onAuth: ({ password }, _s, done) => done(smtpError(535, `5.7.8 ${password} is no password`)),
    },
    '535 5.7.8 *** is no password',
  ],
] satisfies [string, Parameters<typeof startMailServer>[0], string][])(
  'where %s the mail is retried, and no secret is logged',
  async (_case, behaviour, said) => {
    const testApp = await openMailTestApp();
    await invite(await testApp.createProvider(), 'ase@people.example');
    const server = await startMailServer(behaviour);
    const { log, stop } = startWorker(testApp, { to: server.url.replace('//', '//booking:sesam%2Dopen@') });
    await eventually(async () => expect((await readOutbox(testApp))[0]!.last_error).not.toBeNull());
    await stop();
    const [mail] = await readOutbox(testApp);
    expect(mail).toMatchObject({ failed: false, sent: false, attempts: 1 });
    expect(mail!.last_error).toContain(said);
    const reported = [...log, mail!.last_error].join('\n');
    expect(reported).not.toMatch(/sesam|\/my\/password\/[^*]/);
    expect(lines(log, 'info')).toEqual([`info: Mails go to the server ${server.url}`]);
  },
);

test.each([
  ['never greets', () => undefined],
  ['falls silent', (socket: Socket, line: string | null) => line === null && socket.write('220 hello\r\n')],
  [
    'falls silent with half of the mail',
    (socket: Socket, line: string | null) => {
      if (line === null) socket.write('220 hello\r\n');
      else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write('250 go on\r\n');
      else if (line === 'DATA') socket.write('354 go on\r\n');
    },
  ],
])('a server that %s times out and is retried', async (_case, response) => {
  const testApp = await openMailTestApp();
  await bookWithReceipt(await testApp.createProvider());
  const url = await oddServer(response);
  const { log } = startWorker(testApp, { to: `${url}?greetingTimeout=300&socketTimeout=300` });
  await eventually(async () => expect((await readOutbox(testApp))[0]!.last_error).not.toBeNull());
  expect(await readOutbox(testApp)).toMatchObject([{ failed: false, sent: false, attempts: 1 }]);
  expect(lines(log, 'warn')).toHaveLength(1);
});

test('a dropped SMTP connection is retried and the mail arrives once', async () => {
  const testApp = await openMailTestApp();
  await bookWithReceipt(await testApp.createProvider());
  let drops = 1;
  const server = await startMailServer();
  const url = await oddServer((socket, line) => {
    if (line === null) socket.write('220 hello\r\n');
    else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write('250 go on\r\n');
    else if (line === 'DATA') socket.write('354 go on\r\n');
    else if (line.startsWith('Subject')) {
      drops -= 1;
      socket.destroy();
    }
  });
  const first = startWorker(testApp, { to: url });
  await eventually(async () => expect((await readOutbox(testApp))[0]!.last_error).not.toBeNull());
  await first.stop();
  expect(drops).toBe(0);
  await makeDue(testApp);
  startWorker(testApp, { to: server.url });
  await allSent(testApp);
  expect(server.received).toHaveLength(1);
});

test('a hanging mail does not block others', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await invite(me, 'slow@people.example');
  const hanging = gate();
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      void (address.startsWith('slow') ? hanging.opened : Promise.resolve()).then(() => done()),
  });
  startWorker(testApp, { to: server.url });
  for (const name of ['a', 'b', 'c']) {
    await invite(me, `${name}@people.example`);
    await eventually(() => expect(server.received.at(-1)?.to?.[0]?.address).toBe(`${name}@people.example`));
  }
  // Delivery is recorded a moment after the server receives it.
  await eventually(async () =>
    expect((await readOutbox(testApp)).map(({ sent }) => sent)).toEqual([false, true, true, true]),
  );
  hanging.open();
  await allSent(testApp);
  expect((await readOutbox(testApp)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
});

test('retries end after three days', async () => {
  const pauses = Array.from({ length: 20 }, (_, n) => retryDelayMinutes(n + 1)!);
  expect(pauses.slice(0, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
  const days = pauses.reduce((sum, minutes) => sum + minutes) / (24 * 60);
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.25);

  const testApp = await openMailTestApp();
  await bookWithReceipt(await testApp.createProvider());
  await testApp.database.pool.query('update outbox set attempts = 20');
  const server = await startMailServer({ onMailFrom: (_a, _s, done) => done(smtpError(451, 'Not today')) });
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(async () => expect(await readOutbox(testApp)).toMatchObject([{ attempts: 21, failed: true }]));
  expect(lines(log, 'error')).toEqual([expect.stringMatching(/Mail \d+ has failed: .*Not today/)]);
});

test('concurrent workers send each mail once', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const emails = Array.from({ length: 60 }, (_, n) => `person-${n}@people.example`);
  for (const email of emails) await invite(me, email);
  const server = await startMailServer();
  for (let n = 0; n < 4; n += 1) startWorker(testApp, { to: server.url });
  await allSent(testApp);
  expect(server.received.map(({ to }) => to![0]!.address).sort()).toEqual(emails.sort());
  expect((await readOutbox(testApp)).every(({ attempts }) => attempts === 1)).toBe(true);
});

/** A transport that signals each mail and settles on demand. */
function heldTransport() {
  const [come, end] = [gate(), gate()];
  const send = async () => {
    come.open();
    await end.opened;
    return 'is sent';
  };
  return { come, end, transport: { destination: 'nowhere', result: 'sent' as const, secrets: [], send } };
}

function gate() {
  let open: (error?: Error) => void = () => undefined;
  const opened = new Promise<void>((done, fail) => (open = (error) => (error ? fail(error) : done())));
  return { open, opened };
}

test('a mail of a dead worker is taken over after its lease, and only the new attempt may mark it', async () => {
  const testApp = await openMailTestApp();
  await bookWithReceipt(await testApp.createProvider());
  const [slow, next] = [heldTransport(), heldTransport()];
  const gone = startWorker(testApp, { to: slow.transport });
  await slow.come.opened;
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 1, sent: false }]);
  expect((await readOutbox(testApp))[0]!.dueIn).toBeGreaterThan(100);

  const stopped = gone.stop();
  const working = startWorker(testApp, { to: next.transport });
  await makeDue(testApp);
  await next.come.opened;
  slow.end.open(new Error('too late'));
  await stopped;
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 2, last_error: null, sent: false }]);
  expect((await readOutbox(testApp))[0]!.dueIn).toBeGreaterThan(100);
  next.end.open();
  await working.stop();
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 2, sent: true }]);
});

test('an unavailable database is logged once, and sending resumes afterwards', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const server = await startMailServer();
  let [away, refused] = [true, 0];
  const query = (...args: [never]) => {
    if (!away) return testApp.database.pool.query(...args);
    refused += 1;
    return Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  };
  const { log } = startWorker({ database: sendingBy(testApp.database, query) }, { to: server.url });
  await invite(me, 'ase@people.example');
  await eventually(() => expect(lines(log, 'warn')).toHaveLength(1));
  const before = refused;
  await eventually(() => expect(refused).toBe(before + 2));
  expect(lines(log, 'warn')).toEqual([expect.stringContaining('The outbox cannot be read')]);
  away = false;
  await allSent(testApp);
  expect(lines(log, 'info').slice(1)).toEqual([
    'info: The outbox can be read again',
    expect.stringMatching(/Mail \d+ is sent/),
  ]);
});

test('a sent mail is marked even after a database outage', async () => {
  const testApp = await openMailTestApp();
  await bookWithReceipt(await testApp.createProvider());
  const server = await startMailServer();
  let refused = 0;
  const query = (...args: [never]) =>
    (args[0] as { name: string }).name === 'mark_mails_sent' && (refused += 1) <= 2
      ? Promise.reject(new Error('gone'))
      : testApp.database.pool.query(...args);
  startWorker({ database: sendingBy(testApp.database, query) }, { to: server.url });
  await allSent(testApp);
  expect(refused).toBe(3);
  expect(server.received).toHaveLength(1);
});

test('an attempt without a database does not count and is retried in seconds', async () => {
  const testApp = await openMailTestApp();
  await invite(await testApp.createProvider(), 'ase@people.example');
  const server = await startMailServer();
  const refusals = [
    new Error('timeout exceeded when trying to connect'),
    Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }),
  ];
  const query = (...args: [never]) => {
    const statement = args[0] as { name?: string; text: string };
    const isRefused =
      (isLoading(statement) && refusals.length === 2) || (statement.name === 'store_token' && refusals.length === 1);
    return isRefused ? Promise.reject(refusals.shift()!) : testApp.database.pool.query(...args);
  };
  const { log } = startWorker({ database: sendingBy(testApp.database, query) }, { to: server.url });
  for (const left of [1, 0]) {
    await eventually(() => expect(refusals).toHaveLength(left));
    await eventually(async () => expect((await readOutbox(testApp))[0]).toMatchObject({ attempts: 0, failed: false }));
    const [mail] = await readOutbox(testApp);
    expect(mail!.last_error).not.toBeNull();
    expect(mail!.dueIn).toBeLessThanOrEqual(5);
    await makeDue(testApp);
  }
  await allSent(testApp);
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 1, last_error: null }]);
  expect(lines(log, 'warn')).toEqual([
    expect.stringMatching(/Mail \d+ is put off for 5 s: timeout exceeded/),
    expect.stringMatching(/Mail \d+ is put off for 5 s: getaddrinfo/),
  ]);
});

test('an attempt without a mail server counts', async () => {
  const testApp = await openMailTestApp();
  await bookWithReceipt(await testApp.createProvider());
  const { stop } = startWorker(testApp, { to: 'smtp://127.0.0.1:1' });
  await eventually(async () => expect((await readOutbox(testApp))[0]!.last_error).toContain('ECONNREFUSED'));
  await stop();
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 1 }]);
});

test('finished mails and their links are deleted after 90 days, pending ones never', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  for (const name of ['sent', 'fresh', 'failed', 'just-failed', 'waiting']) await invite(me, `${name}@people.example`);
  const server = await startMailServer();
  const first = startWorker(testApp, { to: server.url });
  await allSent(testApp);
  await first.stop();
  const ids = (await readOutbox(testApp)).map(({ id }) => id);
  const days = (ofSent: string, ofFailed: string, id: number) =>
    testApp.database.pool.query(
      `update outbox set created_at = now() - interval '200 days', due_at = now() + interval '1 day',
        sent_at = now() - $1::interval, failed_at = now() - $2::interval where id = $3`,
      [ofSent || null, ofFailed || null, id],
    );
  await testApp.database.pool.query(`update tokens set created_at = now() - interval '200 days'`);
  await days('91 days', '', ids[0]!);
  await days('89 days', '', ids[1]!);
  await days('', '91 days', ids[2]!);
  await days('', '89 days', ids[3]!);
  await days('', '', ids[4]!);
  const task = tasks.find(({ table }) => table === 'outbox')!;
  expect(await deleteOld(testApp.database, task, 90)).toBe(2);
  const left = [ids[1], ids[3], ids[4]];
  expect((await readOutbox(testApp)).map(({ id }) => id)).toEqual(left);
  const { rows } = await testApp.database.pool.query<{ id: number }>(
    'select mail_id as id from tokens order by mail_id',
  );
  expect(rows.map(({ id }) => id)).toEqual(left);
});
