import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import type { Queryable } from '../../../database/statements.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { bookingLinks } from '../../../database/tables/access.ts';
import { currentTime, hasLink } from '../../../database/tables/columns.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { isOfOpenProvider } from '../../../database/tables/providers.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { bookingProblem, fieldError, bookingError } from '../../../core/booking-errors.ts';
import { reserveFormMail } from '../mails/queue-service.ts';
import type { LinkResult, LinkSubject } from './schema.ts';
import * as statements from './sql.ts';

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
  subject: LinkSubject,
  { token = newProviderSecret(subject.providerId), mailId, replaces = 'all' }: LinkOptions = {},
) {
  const link = { ...subject, hash: hashSecret(token), mailId: mailId ?? null, replaces };
  return (await statements.storeLink.count(on, link)) > 0 ? token : undefined;
}

/** The booking or participant of a link, with the participant's user; undefined if unknown, or after the course. */
export async function findLink(on: UnlockedStore, kind: 'booking' | 'offer', token: string) {
  const { providerId, bookingId, participantId, hash, earlierHashes } = bookingLinks;
  const isLink = and(
    hasLink(hash, earlierHashes, hashSecret(token)),
    kind === 'offer' ? isNotNull(participantId) : isNull(participantId),
    sql`${statements.endsAt(bookingLinks)} > now()`,
    isOfOpenProvider(bookingLinks),
  );
  const [found] = await on
    .select({ providerId, bookingId, participantId, userId: participants.userId })
    .from(bookingLinks)
    .leftJoin(participants, sameTenant(participants, bookingLinks, eq(participants.id, participantId)))
    .where(tenantWhere({ providerId: parseProviderId(token) }, bookingLinks, isLink));
  return found;
}

/** Queues a mail with a link to the booker, unless one waits, within the limit of mails to a recipient. */
export const sendLink = (ctx: Ctx, bookingId: number): Promise<LinkResult> =>
  ctx.write(['people'], async (w) => {
    const { providerId } = ctx;
    const endsAt = statements.endsAt({
      providerId: bookings.providerId,
      bookingId: bookings.id,
      participantId: sql`null`,
    });
    const isOver = sql<boolean>`coalesce(${endsAt} <= now(), true)`;
    const [found] = await w.tx
      .select({ email: bookings.bookerEmail, isOver })
      .from(bookings)
      .where(tenantWhere(ctx, bookings, eq(bookings.id, bookingId)));
    const { email, ...booking } = Problem.assertFound(found, 'Booking');
    if (email === null) throw bookingProblem([fieldError('booker_email')]);
    if (booking.isOver) throw bookingProblem([bookingError('booking_over')]);
    const result = { successful: true, booking_id: String(bookingId), email };
    const { purpose, sentAt, failedAt } = outbox;
    const isWaiting = and(
      eq(outbox.bookingId, bookingId),
      eq(purpose, 'booking_link'),
      isNull(sentAt),
      isNull(failedAt),
    );
    if ((await w.tx.$count(outbox, tenantWhere(ctx, outbox, isWaiting))) > 0) return w.tx.rollBack(result);
    await w.tx
      .insert(outbox)
      .values({ providerId, purpose: 'booking_link', bookingId, createdAt: w.now, dueAt: currentTime });
    if (!(await reserveFormMail(w, email))) throw tooManyMails();
    return result;
  });

function tooManyMails() {
  const message = 'The booker has got as many mails as may be sent in 24 hours';
  return new Problem('too_many_requests', message, {
    errors: [{ code: 'too_many_mails', message }],
    retryAfter: 3_600,
  });
}

/** Ends earlier links of a person with a new e-mail or new places (`participantIds`), and mails open offers again. */
export const replaceOfferLinks = (
  { providerId, tx, now }: WriteCtx,
  userId: number,
  participantIds: number[] | null = null,
) => {
  const chosen = { all: participantIds === null, participantIds: participantIds ?? [] };
  return statements.replaceOfferLinks(tx, { providerId, userId, now, ...chosen });
};
