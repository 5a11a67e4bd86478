import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { minutesAfter } from '../../../src/mail/worker.ts';
import { getOwner } from '../../../src/resources/auth/token-service.ts';
import {
  allSent,
  bookWithReceipt,
  eventually,
  invite,
  mailServer,
  mailWorld,
  makeDue,
  outboxOf,
  refusal,
  sending,
  tokenIn,
} from '../../support/mail.ts';

/** A server of one's own making: what it says when somebody connects, and to each line. */
async function oddServer(answer: (socket: Socket, line: string | null) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    answer(socket, null);
    socket.on('data', (lines) => {
      for (const line of lines.toString().split('\r\n').filter(Boolean)) answer(socket, line);
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

test('a refusal for now is tried again after a minute, two, four, with another link; then it arrives once', async () => {
  const world = await mailWorld();
  const me = await world.newProvider();
  await invite(me, 'ase@people.example');
  let refusals = 3;
  const seen: string[] = [];
  const server = await mailServer({
    onRcptTo: (_address, _session, done) =>
      done((refusals -= 1) >= 0 ? refusal(451, '4.3.0 Come\r\nback later') : null),
  });
  const { log } = sending(world, { to: server.url });
  for (const minutes of [1, 2, 4]) {
    await eventually(async () =>
      expect(await outboxOf(world)).toMatchObject([{ attempts: seen.length + 1, last_error: expect.any(String) }]),
    );
    const [mail] = await outboxOf(world);
    expect(mail).toMatchObject({ sent: false, failed: false });
    expect(mail!.last_error).toMatch(/^[^\n]*451 4\.3\.0 Come[^\n]*$/);
    expect(mail!.dueIn / 60).toBeGreaterThan(minutes - 0.5);
    expect(mail!.dueIn / 60).toBeLessThanOrEqual(minutes);
    const { rows } = await world.database.pool.query<{ hash: string }>('select hash from tokens');
    seen.push(...rows.map(({ hash }) => hash));
    await makeDue(world);
  }
  await allSent(world);
  expect(new Set(seen).size).toBe(3);
  expect(await outboxOf(world)).toMatchObject([{ attempts: 4, last_error: null, failed: false }]);
  expect(server.received).toHaveLength(1);
  expect(await getOwner((await me.ctx()).authStore, 'password', tokenIn(server.received[0]!.text))).toBeDefined();
  expect(lines(log, 'warn')).toHaveLength(3);
  expect(log.join('\n')).not.toContain(tokenIn(server.received[0]!.text));
});

test('who is unknown to their own server fails at once', async () => {
  const world = await mailWorld();
  await invite(await world.newProvider(), 'nobody@people.example');
  const server = await mailServer({
    onRcptTo: (_address, _session, done) => done(refusal(550, '5.1.1 No such user')),
  });
  const { log } = sending(world, { to: server.url });
  await eventually(async () => expect((await outboxOf(world))[0]!.failed).toBe(true));
  expect(await outboxOf(world)).toMatchObject([{ sent: false, attempts: 1 }]);
  expect((await outboxOf(world))[0]!.last_error).toContain('550 5.1.1 No such user');
  expect(lines(log, 'error')).toHaveLength(1);
});

test.each([
  ['relaying is denied', { onRcptTo: (_a, _s, done) => done(refusal(554, '5.7.1 Relay access denied')) }, '5.7.1'],
  ['the sender is refused', { onMailFrom: (_a, _s, done) => done(refusal(553, '5.1.8 Sender not allowed')) }, '553'],
  [
    'the text is refused',
    {
      onData: (stream, _s, done) => {
        let text = '';
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
        // As spam filters do: they quote the link.
        stream.on('end', () => done(refusal(554, `Spam: ${text.replaceAll('=\r\n', '').match(/http\S+/)![0]}`)));
      },
    },
    '/my/password/***',
  ],
  [
    'the password is wrong',
    {
      authOptional: false,
      onAuth: ({ password }, _s, done) => done(refusal(535, `5.7.8 ${password} is no password`)),
    },
    '535 5.7.8 *** is no password',
  ],
] satisfies [string, Parameters<typeof mailServer>[0], string][])(
  'where %s it may be the setup, so it is tried again; no secret is told',
  async (_case, behaviour, said) => {
    const world = await mailWorld();
    await invite(await world.newProvider(), 'ase@people.example');
    const server = await mailServer(behaviour);
    const { log, stop } = sending(world, { to: server.url.replace('//', '//booking:sesam%2Dopen@') });
    await eventually(async () => expect((await outboxOf(world))[0]!.last_error).not.toBeNull());
    await stop();
    const [mail] = await outboxOf(world);
    expect(mail).toMatchObject({ failed: false, sent: false, attempts: 1 });
    expect(mail!.last_error).toContain(said);
    const told = [...log, mail!.last_error].join('\n');
    expect(told).not.toMatch(/sesam|\/my\/password\/[^*]/);
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
])('a server that %s is given up after its time, and tried again', async (_case, answer) => {
  const world = await mailWorld();
  await bookWithReceipt(await world.newProvider());
  const url = await oddServer(answer);
  const { log } = sending(world, { to: `${url}?greetingTimeout=300&socketTimeout=300` });
  await eventually(async () => expect((await outboxOf(world))[0]!.last_error).not.toBeNull());
  expect(await outboxOf(world)).toMatchObject([{ failed: false, sent: false, attempts: 1 }]);
  expect(lines(log, 'warn')).toHaveLength(1);
});

test('a line that drops half-way through a mail costs another try, and the mail arrives once', async () => {
  const world = await mailWorld();
  await bookWithReceipt(await world.newProvider());
  let drops = 1;
  const server = await mailServer();
  const url = await oddServer((socket, line) => {
    if (line === null) socket.write('220 hello\r\n');
    else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write('250 go on\r\n');
    else if (line === 'DATA') socket.write('354 go on\r\n');
    else if (line.startsWith('Subject')) {
      drops -= 1;
      socket.destroy();
    }
  });
  const first = sending(world, { to: url });
  await eventually(async () => expect((await outboxOf(world))[0]!.last_error).not.toBeNull());
  await first.stop();
  expect(drops).toBe(0);
  await makeDue(world);
  sending(world, { to: server.url });
  await allSent(world);
  expect(server.received).toHaveLength(1);
});

test('one mail that hangs holds up no other', async () => {
  const world = await mailWorld();
  const me = await world.newProvider();
  await invite(me, 'slow@people.example');
  const server = await mailServer({
    onRcptTo: ({ address }, _session, done) => (address.startsWith('slow') ? undefined : done()),
  });
  sending(world, { to: `${server.url}?socketTimeout=8000` });
  for (const name of ['a', 'b', 'c']) {
    await invite(me, `${name}@people.example`);
    await eventually(() => expect(server.received.at(-1)?.to?.[0]?.address).toBe(`${name}@people.example`));
  }
  // What the server has received is written down a moment later.
  await eventually(async () =>
    expect((await outboxOf(world)).map(({ sent }) => sent)).toEqual([false, true, true, true]),
  );
  // It is still on its way.
  expect((await outboxOf(world))[0]).toMatchObject({ sent: false, last_error: null });
});

test('the tries end after three days', async () => {
  const pauses = Array.from({ length: 20 }, (_, n) => minutesAfter(n + 1)!);
  expect(pauses.slice(0, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
  const days = pauses.reduce((sum, minutes) => sum + minutes) / (24 * 60);
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.25);

  const world = await mailWorld();
  await bookWithReceipt(await world.newProvider());
  await world.database.pool.query('update outbox set attempts = 20');
  const server = await mailServer({ onMailFrom: (_a, _s, done) => done(refusal(451, 'Not today')) });
  const { log } = sending(world, { to: server.url });
  await eventually(async () => expect(await outboxOf(world)).toMatchObject([{ attempts: 21, failed: true }]));
  expect(lines(log, 'error')).toEqual([expect.stringMatching(/Mail \d+ has failed: .*Not today/)]);
});

test('several workers at once send each mail once', async () => {
  const world = await mailWorld();
  const me = await world.newProvider();
  const emails = Array.from({ length: 60 }, (_, n) => `person-${n}@people.example`);
  for (const email of emails) await invite(me, email);
  const server = await mailServer();
  for (let n = 0; n < 4; n += 1) sending(world, { to: server.url });
  await allSent(world);
  expect(server.received.map(({ to }) => to![0]!.address).sort()).toEqual(emails.sort());
  expect((await outboxOf(world)).every(({ attempts }) => attempts === 1)).toBe(true);
});

/** A transport that says when a mail comes, and ends as told. */
function heldTransport() {
  const [come, end] = [gate(), gate()];
  const send = async () => {
    come.open();
    await end.opened;
    return 'is sent';
  };
  return { come, end, transport: { destination: 'nowhere', secrets: [], send } };
}

function gate() {
  let open: (error?: Error) => void = () => undefined;
  const opened = new Promise<void>((done, fail) => (open = (error) => (error ? fail(error) : done())));
  return { open, opened };
}

test('a mail whose worker is gone is taken over when the lease is over, and only its new try may mark it', async () => {
  const world = await mailWorld();
  await bookWithReceipt(await world.newProvider());
  const [slow, next] = [heldTransport(), heldTransport()];
  const gone = sending(world, { to: slow.transport });
  await slow.come.opened;
  expect(await outboxOf(world)).toMatchObject([{ attempts: 1, sent: false }]);
  expect((await outboxOf(world))[0]!.dueIn).toBeGreaterThan(100);

  const stopped = gone.stop();
  const working = sending(world, { to: next.transport });
  await makeDue(world);
  await next.come.opened;
  slow.end.open(new Error('too late'));
  await stopped;
  expect(await outboxOf(world)).toMatchObject([{ attempts: 2, last_error: null, sent: false }]);
  expect((await outboxOf(world))[0]!.dueIn).toBeGreaterThan(100);
  next.end.open();
  await working.stop();
  expect(await outboxOf(world)).toMatchObject([{ attempts: 2, sent: true }]);
});

test('a database that is away is told of once, and mail goes on when it is back', async () => {
  const world = await mailWorld();
  const me = await world.newProvider();
  const server = await mailServer();
  let away = true;
  const query = (...args: [never]) =>
    away
      ? Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
      : world.database.pool.query(...args);
  const { log } = sending({ database: { ...world.database, pool: { query } as never } }, { to: server.url });
  await invite(me, 'ase@people.example');
  await eventually(() => expect(lines(log, 'warn')).toHaveLength(1));
  await new Promise((done) => setTimeout(done, 2_000));
  expect(lines(log, 'warn')).toEqual([expect.stringContaining('The outbox cannot be read')]);
  away = false;
  await allSent(world);
  expect(lines(log, 'info').slice(1)).toEqual([
    'info: The outbox can be read again',
    expect.stringMatching(/Mail \d+ is sent/),
  ]);
});

test('a mail that left is marked even if the database was away at that moment', async () => {
  const world = await mailWorld();
  await bookWithReceipt(await world.newProvider());
  const server = await mailServer();
  let refused = 0;
  const query = (...args: [never]) =>
    (args[0] as { name: string }).name === 'mark_mail_sent' && (refused += 1) <= 2
      ? Promise.reject(new Error('gone'))
      : world.database.pool.query(...args);
  sending({ database: { ...world.database, pool: { query } as never } }, { to: server.url });
  await allSent(world);
  expect(refused).toBe(3);
  expect(server.received).toHaveLength(1);
});

test('a try that had no database does not count, and the next comes in seconds', async () => {
  const world = await mailWorld();
  await invite(await world.newProvider(), 'ase@people.example');
  const server = await mailServer();
  const refusals = [
    new Error('timeout exceeded when trying to connect'),
    Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }),
  ];
  const query = (...args: [never]) => {
    const { name } = args[0] as { name: string };
    const isRefused =
      (name === 'find_mail' && refusals.length === 2) || (name === 'keep_token' && refusals.length === 1);
    return isRefused ? Promise.reject(refusals.shift()!) : world.database.pool.query(...args);
  };
  const { log } = sending({ database: { ...world.database, pool: { query } as never } }, { to: server.url });
  for (const left of [1, 0]) {
    await eventually(() => expect(refusals).toHaveLength(left));
    await eventually(async () => expect((await outboxOf(world))[0]).toMatchObject({ attempts: 0, failed: false }));
    const [mail] = await outboxOf(world);
    expect(mail!.last_error).not.toBeNull();
    expect(mail!.dueIn).toBeLessThanOrEqual(5);
    await makeDue(world);
  }
  await allSent(world);
  expect(await outboxOf(world)).toMatchObject([{ attempts: 1, last_error: null }]);
  expect(lines(log, 'warn')).toEqual([
    expect.stringMatching(/Mail \d+ is put off for 5 s: timeout exceeded/),
    expect.stringMatching(/Mail \d+ is put off for 5 s: getaddrinfo/),
  ]);
});

test('a mail server that is away is no shortage of the database: the try counts', async () => {
  const world = await mailWorld();
  await bookWithReceipt(await world.newProvider());
  const { stop } = sending(world, { to: 'smtp://127.0.0.1:1' });
  await eventually(async () => expect((await outboxOf(world))[0]!.last_error).toContain('ECONNREFUSED'));
  await stop();
  expect(await outboxOf(world)).toMatchObject([{ attempts: 1 }]);
});

test('what was sent or given up 90 days ago is cleared with its links, what waits never', async () => {
  const world = await mailWorld();
  const me = await world.newProvider();
  for (const name of ['sent', 'fresh', 'failed', 'just-failed', 'waiting']) await invite(me, `${name}@people.example`);
  const server = await mailServer();
  const first = sending(world, { to: server.url });
  await allSent(world);
  await first.stop();
  const ids = (await outboxOf(world)).map(({ id }) => id);
  const days = (ofSent: string, ofFailed: string, id: number) =>
    world.database.pool.query(
      `update outbox set created_at = now() - interval '200 days', due_at = now() + interval '1 day',
        sent_at = now() - $1::interval, failed_at = now() - $2::interval where id = $3`,
      [ofSent || null, ofFailed || null, id],
    );
  await days('91 days', '', ids[0]!);
  await days('89 days', '', ids[1]!);
  await days('', '91 days', ids[2]!);
  await days('', '89 days', ids[3]!);
  await days('', '', ids[4]!);
  sending(world, { to: server.url });
  const left = [ids[1], ids[3], ids[4]];
  await eventually(async () => expect((await outboxOf(world)).map(({ id }) => id)).toEqual(left));
  const { rows } = await world.database.pool.query<{ id: number }>('select mail_id as id from tokens order by mail_id');
  expect(rows.map(({ id }) => id)).toEqual(left);
});
