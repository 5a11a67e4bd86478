import type { AddressInfo } from 'node:net';
import { sql } from 'drizzle-orm';
import { text } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, vi } from 'vitest';
import type { Settings } from '../../src/core/settings.ts';
import { smtpTransport, type Transport } from '../../src/plugins/delivery/mail/transport.ts';
import { slots, startMail } from '../../src/plugins/delivery/mail/deliveries.ts';
import { outbox } from '../../src/database/tables/outbox.ts';
import { createBookableDate, bookOrFail, person } from './booking.ts';
import { createUser, write } from './orders.ts';
import { emptyTestApp, settings, type Provider, type TestApp } from './test-app.ts';

/** A test app on a database without providers, since a worker sends the mails of all providers. */
export const openMailTestApp = emptyTestApp;

export type ReceivedMail = Email & { raw: string };

/** An SMTP error response. */
export const smtpError = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

/** An SMTP server on loopback, closed after the test; accepts everything by default. */
export async function startMailServer(behaviour: SMTPServerOptions = {}) {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onAuth: (_credentials, _session, done) => done(null, { user: 'booking' }),
    onData(stream, _session, done) {
      text(stream)
        .then(async (raw) => received.push({ ...(await PostalMime.parse(raw)), raw }))
        .then(() => done(null, 'taken'), done);
    },
    ...behaviour,
  });
  // A client may disconnect.
  server.on('error', () => undefined);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => new Promise<void>((closed) => server.close(closed)));
  const { port } = server.server.address() as AddressInfo;
  return { received, port, url: `smtp://127.0.0.1:${port}` };
}

type WorkerOptions = { to: string | Transport; rate?: number; language?: Settings['defaultLanguage'] };

/** A mail worker for the app's outbox, stopped after the test; `log` has its records with levels. */
export function startWorker({ database }: Pick<TestApp, 'database'>, { to, language = 'en', rate = 0 }: WorkerOptions) {
  const log: string[] = [];
  const logAt = (level: string) => (line: unknown) => void log.push(`${level}: ${String(line)}`);
  const worker = startMail({
    database,
    settings: { ...settings, defaultLanguage: language },
    transport: typeof to === 'string' ? smtpTransport(to, slots) : to,
    from: 'courses@booking.example',
    rate,
    log: { info: logAt('info'), warn: logAt('warn'), error: logAt('error') } as never,
  });
  onTestFinished(worker.stop);
  return { ...worker, log };
}

/** Outbox rows; `dueIn` in seconds. */
export async function readOutbox({ database }: Pick<TestApp, 'database'>) {
  const { rows } = await database.pool.query<{
    id: number;
    purpose: string;
    attempts: number;
    last_error: string | null;
    sent: boolean;
    failed: boolean;
    dueIn: number;
  }>(
    `select id, purpose, attempts, last_error, sent_at is not null as sent, failed_at is not null as failed,
      extract(epoch from due_at - now())::float8 as "dueIn" from outbox order by id`,
  );
  return rows;
}

/** Makes all retries due. */
export const makeDue = ({ database }: Pick<TestApp, 'database'>) =>
  database.pool.query('update outbox set due_at = now() where sent_at is null');

export const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 50 });

export const allSent = (testApp: Pick<TestApp, 'database'>) =>
  eventually(async () => expect((await readOutbox(testApp)).every(({ sent }) => sent)).toBe(true));

/** Mails that were just sent are not sent again. */
export const ageSentMails = ({ database }: Pick<TestApp, 'database'>) =>
  database.pool.query(`update outbox set sent_at = sent_at - interval '5 minutes' where sent_at is not null`);

/** A mail to a new course user that was sent a day ago. */
export async function createSentMail(me: Provider) {
  const userId = await createUser(me);
  return write(me, async (tx, now) => {
    const mail = {
      providerId: me.id,
      purpose: 'account_created',
      userId,
      createdAt: now,
      dueAt: now,
      attempts: 1,
    } as const;
    const [sent] = await tx
      .insert(outbox)
      .values({ ...mail, sentAt: sql`now() - interval '1 day'` })
      .returning({ id: outbox.id });
    return sent!.id;
  });
}

/** Books a new person on a new date, which queues a receipt. */
export async function bookWithReceipt(me: Provider, fields: Record<string, unknown> = {}) {
  const { dateId } = await createBookableDate(me);
  return bookOrFail(me, dateId, {
    participants: [person(fields)],
    config: { send_receipt_email_to_participant: true },
  });
}

export const invite = (me: Provider, email: string, fields: Record<string, unknown> = {}) =>
  me.post('/v2/admin-users', { email, firstname: 'Åse', lastname: 'Ødegård', role_ids: [1], ...fields });

/** Switches kinds of mails on or off. */
export const switchMails = (me: Provider, mails: Record<string, boolean | null>) =>
  me.put('/v2/booking-settings', { mails });

/** Unsent and sent mails of a school as `purpose participant`; `b` instead for the booker of a place. */
export async function queuedMails(me: Provider) {
  const { rows } = await (
    await me.ctx()
  ).unlockedStore.$client.query<{ mail: string }>(
    `select concat_ws(' ', purpose, case when booking_id is not null then 'b' end, participant_id) as mail
      from outbox where provider_id = ${me.id} order by id`,
  );
  return rows.map(({ mail }) => mail);
}

/** Token of the link in a mail. */
export const extractToken = (content = '', kind = 'password') =>
  new RegExp(`/my/${kind}/(\\d+_[\\w-]{43})(?![\\w-])`).exec(content)?.[1] ?? '';

/** Sends the outbox and returns the received mails in creation order. */
export async function deliverMails(testApp: Pick<TestApp, 'database'>, language: 'en' | 'no' = 'en') {
  const server = await startMailServer();
  const { log, stop } = startWorker(testApp, { to: server.url, language });
  await allSent(testApp);
  await stop();
  expect(log.filter((line) => !line.startsWith('info'))).toEqual([]);
  return server.received.sort((a, b) => a.messageId!.localeCompare(b.messageId!, 'en', { numeric: true }));
}

/** Changes stored rows in ways that no endpoint allows. */
export const forced = async (me: Provider, statement: string) => write(me, (tx) => tx.execute(statement));
