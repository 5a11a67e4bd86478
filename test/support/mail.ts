import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, vi } from 'vitest';
import type { Settings } from '../../src/core/context.ts';
import { smtpTransport, type Transport } from '../../src/mail/transport.ts';
import { startMail } from '../../src/mail/worker.ts';
import { bookable, booked, person } from './booking.ts';
import { openTestDatabase, openWorld, ownDatabase, settings, type Provider, type World } from './world.ts';

/** A world whose outbox is nobody else's: a worker takes the mails of all providers. */
export async function mailWorld() {
  const name = await ownDatabase();
  const world = await openWorld(openTestDatabase(name));
  onTestFinished(world.close);
  return { ...world, name };
}

export type Received = Email & { raw: string };

/** A refusal as an SMTP server words it. */
export const refusal = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

/** A real SMTP server on loopback; it takes everything unless told otherwise, and ends with the test. */
export async function mailServer(behaviour: SMTPServerOptions = {}) {
  const received: Received[] = [];
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
  // A client that goes away is no failure of the test.
  server.on('error', () => undefined);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => new Promise<void>((closed) => server.close(closed)));
  const { port } = server.server.address() as AddressInfo;
  return { received, port, url: `smtp://127.0.0.1:${port}` };
}

type Sending = { to: string | Transport; language?: Settings['defaultLanguage'] };

/** A worker over the world's outbox, stopped with the test at the latest; `log` is what it says, each with its level. */
export function sending({ database }: Pick<World, 'database'>, { to, language = 'en' }: Sending) {
  const log: string[] = [];
  const say = (level: string) => (line: unknown) => void log.push(`${level}: ${String(line)}`);
  const worker = startMail({
    database,
    settings: { ...settings, defaultLanguage: language },
    transport: typeof to === 'string' ? smtpTransport(to) : to,
    from: 'courses@booking.example',
    log: { info: say('info'), warn: say('warn'), error: say('error') } as never,
  });
  onTestFinished(worker.stop);
  return { ...worker, log };
}

/** The outbox as it stands, `dueIn` in seconds from now. */
export async function outboxOf({ database }: Pick<World, 'database'>) {
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

/** As if the time of the next try had come. */
export const makeDue = ({ database }: Pick<World, 'database'>) =>
  database.pool.query('update outbox set due_at = now() where sent_at is null');

export const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 50 });

export const allSent = (world: Pick<World, 'database'>) =>
  eventually(async () => expect((await outboxOf(world)).every(({ sent }) => sent)).toBe(true));

/** Books one person on a date of its own, who gets a receipt. */
export async function bookWithReceipt(me: Provider, fields: Record<string, unknown> = {}) {
  const { dateId } = await bookable(me);
  return booked(me, dateId, { participants: [person(fields)], config: { send_receipt_email_to_participant: true } });
}

export const invite = (me: Provider, email: string, fields: Record<string, unknown> = {}) =>
  me.post('/v2/admin-users', { email, firstname: 'Åse', lastname: 'Ødegård', role_ids: [1], ...fields });

/** The token of a letter's link. */
export const tokenIn = (content = '') => /\/my\/password\/([\w-]{43})(?![\w-])/.exec(content)?.[1] ?? '';
