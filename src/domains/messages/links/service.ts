import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { bookingProblem, fieldError, bookingError } from '../../../core/booking-errors.ts';
import { reserveFormMail } from '../mails/queue-service.ts';
import type { LinkResult, LinkSubject } from './schema.ts';
import * as sql from './sql.ts';

type LinkOptions = {
  /** A secret of the form of `newProviderSecret`; a new one by default. */
  token?: string;
  /** The mail that contains the link. */
  mailId?: number;
  /** The other links that end: by default all, or those of earlier mails alone. */
  replaces?: 'all' | 'mailed' | 'none';
};

/** Returns the secret, of which only a hash is stored; undefined once the course is over. Earlier links end. */
export async function createLink(
  on: Queryable,
  { providerId, bookingId, participantId }: LinkSubject,
  { token = newProviderSecret(providerId), mailId, replaces = 'all' }: LinkOptions = {},
) {
  const values = [providerId, bookingId, participantId, hashSecret(token), mailId ?? null, replaces];
  const stored = await execute(on, sql.storeLink, values);
  return stored.length > 0 ? token : undefined;
}

/** The booking or participant of a link, with the participant's user; undefined if unknown, or after the course. */
export async function findLink(on: Queryable, kind: 'booking' | 'offer', token: string) {
  const values = [parseProviderId(token), hashSecret(token), kind === 'offer'];
  const [found] = await execute<LinkSubject & { userId: number | null }>(on, sql.findLink, values);
  return found;
}

/** Queues a mail with a link to the booker, unless one waits, within the limit of mails to a recipient. */
export const sendLink = (ctx: Ctx, bookingId: number): Promise<LinkResult> =>
  ctx.write(['people'], async (tx, now) => {
    const { providerId } = ctx;
    const [found] = await execute<{ email: string | null; isOver: boolean }>(tx, sql.findBooker, [
      providerId,
      bookingId,
    ]);
    const { email, isOver } = Problem.assertFound(found, 'Booking');
    if (email === null) throw bookingProblem([fieldError('booker_email')]);
    if (isOver) throw bookingProblem([bookingError('booking_over')]);
    const result = { successful: true, booking_id: String(bookingId), email };
    const queued = await execute(tx, sql.queueLink, [providerId, bookingId, now]);
    if (queued.length === 0) return tx.rollbackNoChange(result);
    if (!(await reserveFormMail(ctx, tx, email))) throw tooManyMails();
    return result;
  });

function tooManyMails() {
  const message = 'The booker has got as many mails as may be sent in 24 hours';
  return new Problem('too_many_requests', message, {
    errors: [{ code: 'too_many_mails', message }],
    retryAfter: 3_600,
  });
}

/**
 * For a person with a new e-mail address, or with places that were another person's, `participantIds` of them: earlier
 * links end, and open offers are mailed again.
 */
export const replaceOfferLinks = (
  { providerId }: Ctx,
  tx: Tx,
  now: string,
  userId: number,
  participantIds: number[] | null = null,
) => execute(tx, sql.replaceOfferLinks, [providerId, userId, now, participantIds]);
