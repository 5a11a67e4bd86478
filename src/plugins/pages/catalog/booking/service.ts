import { and, eq, isNull, sql } from 'drizzle-orm';
import { hash } from 'node:crypto';
import { deriveProviderSecret, hashSecret } from '../../../../core/secrets.ts';
import type { DateSpan } from '../../../../core/date-format.ts';
import type { Ctx, WriteCtx } from '../../../../database/context.ts';
import { loadServiceSecret } from '../../../../database/service-state.ts';
import type { UnlockedStore } from '../../../../database/reader.ts';
import { bookingLinks } from '../../../../database/tables/access.ts';
import { catalogPosts, recipientHash } from '../../../../database/tables/catalog-posts.ts';
import { currentTime } from '../../../../database/tables/columns.ts';
import { bookings, orders } from '../../../../database/tables/orders.ts';
import { sameTenant, tenantWhere } from '../../../../lists/tenant-scope.ts';
import type { BookingInput } from '../../../../domains/bookings/booking/body-schema.ts';
import { bookingAreas, bookWithin } from '../../../../domains/bookings/booking/service.ts';
import { createLink } from '../../../../domains/messages/links/service.ts';
import {
  type RequestedMails,
  decideFormMails,
  isMailSwitchedOn,
} from '../../../../domains/messages/mails/queue-service.ts';
import type { BookingQuote } from '../../../../domains/bookings/booking/quote-service.ts';
import { AddressLimited, hashAddress } from '../forms.ts';
import type { BookingFields } from './form.ts';
import { formLimits } from './limits.ts';

/** The price that was shown is not that of the booking. */
export class PriceChanged extends Error {}
/** The form has booked something else. */
export class FormReused extends Error {}
/** The form has booked, and its record was deleted since. */
export class FormEnded extends Error {}

/** Equal for equal totals, statuses and times. */
export function toVersion({ currency, totals, voucher, participants }: BookingQuote, date: DateSpan) {
  const { startAt, startTimeAt, endAt, endTimeAt } = date;
  const price = [currency, totals.exclVat, totals.inclVat, voucher?.pays || undefined];
  const statuses = participants.map(({ statusId }) => statusId);
  return hash('sha256', [...price, startAt, startTimeAt, endAt, endTimeAt, ...statuses].join(' '), 'base64url');
}

/** Equal for what a price depends on by the choice of the visitor. */
export const toChoice = ({ campaign_code, voucher_code, participants = [] }: BookingInput) =>
  hash('sha256', JSON.stringify([campaign_code, voucher_code, participants.map(({ products }) => products)]), 'hex');

/** Equal for what a form books in any language. The key, which is not stored, hides the values. */
export const toFingerprint = (key: string, fields: BookingFields) =>
  hash('sha256', JSON.stringify([key, { ...fields, language: '' }], trimmed), 'hex');
const trimmed = (_name: string, value: unknown) =>
  typeof value === 'string' ? value.trim().replace(/\s+/g, ' ') : value;

/** True if the booking of a key is one of these fields; of a server of the version before this is not known. */
export const isPostOf = ({ fingerprint }: PostFound, own: string) => fingerprint === null || fingerprint === own;

/** The secret of the payer's page. */
export const toToken = async ({ providerId, unlockedStore }: Ctx, key: string) =>
  deriveProviderSecret(await loadServiceSecret(unlockedStore), providerId, 'booking link', key);

const ofLastDay = sql<boolean>`${catalogPosts.createdAt} > ${currentTime} - interval '24 hours'`;

type PostFound = NonNullable<Awaited<ReturnType<typeof findPost>>>;

/** The booking of a key. The receipt goes to its booker first. */
export async function findPost(on: UnlockedStore, providerId: number, key: string) {
  const booker = recipientHash(catalogPosts.providerId, bookings.bookerEmail);
  const mailedTo = sql<
    string | null
  >`case when ${catalogPosts.recipients} @> array[${booker}] then ${bookings.bookerEmail} end`;
  const [found] = await on
    .select({ bookingId: bookings.id, isOpen: ofLastDay, fingerprint: catalogPosts.fingerprint, mailedTo })
    .from(catalogPosts)
    .innerJoin(bookings, sameTenant(bookings, catalogPosts, eq(bookings.id, catalogPosts.bookingId)))
    .where(tenantWhere({ providerId }, catalogPosts, eq(catalogPosts.keyHash, hashSecret(key))));
  return found;
}

type FormPost = {
  key: string;
  /** Fingerprint of the fields. */
  fingerprint: string;
  /** Undefined for a closed connection. */
  ip: string | undefined;
  /** Version of the price that was shown. */
  version: string;
  date: DateSpan;
  input: BookingInput;
};

/**
 * Books as `POST /v2/booking`, once for each key, and within the limits of the address. The link of the payer's page
 * comes from the key. Throws `PriceChanged`, `AddressLimited`, `FormReused` or `FormEnded`.
 */
export async function bookByForm(ctx: Ctx, { key, fingerprint, ip, version, date, input }: FormPost): Promise<void> {
  const [token, address] = await Promise.all([toToken(ctx, key), hashAddress(ctx, ip)]);
  await ctx.write(bookingAreas, async (w) => {
    const { tx } = w;
    const { providerId } = ctx;
    const emails = listEmails(input);
    const receipts = await isMailSwitchedOn(ctx, tx, 'receipt');
    const [known, links, counts, isSent] = await Promise.all([
      findPost(tx, providerId, key),
      // It remains longer than the record of the form.
      tx.$count(bookingLinks, tenantWhere(ctx, bookingLinks, eq(bookingLinks.hash, hashSecret(token)))),
      countPosts(w, address),
      decideFormMails(w, receipts ? emails : emails.slice(0, 1)),
    ]);
    if (known && !isPostOf(known, fingerprint)) throw new FormReused();
    if (known) {
      tx.rollBack();
      return;
    }
    if (links > 0) throw new FormEnded();
    const places = emails.length - 1;
    if (counts.posts >= formLimits.postsPerHour) throw new AddressLimited('posts');
    if (counts.unpaidPlaces + places > formLimits.unpaidPlacesPerDay) throw new AddressLimited('places');

    const [toBooker = false, ...toParticipants] = emails.map((_email, n) => isSent[n] ?? false);
    const mails: RequestedMails = { toBooker, toParticipants };
    const assertAgreed = (quote: BookingQuote) => {
      if (toVersion(quote, date) !== version) throw new PriceChanged();
    };
    const { summary } = await bookWithin(w, input, [], { assertAgreed, mails });
    const bookingId = Number(summary.booking_id);
    const mailed = emails.filter((_email, n) => isSent[n]);
    const recipients = sql`array(
      select ${recipientHash(providerId, sql`email`)} from json_array_elements_text(${JSON.stringify(mailed)}) email)`;
    const post = { bookingId, addressHash: address, places, recipients, fingerprint };
    await tx.insert(catalogPosts).values({ providerId, keyHash: hashSecret(key), ...post, createdAt: currentTime });
    await createLink(tx, { providerId, bookingId, participantId: null }, { token });
  });
}

/** Lists the e-mails of the booker and of each participant; empty ones are reported by the booking service. */
const listEmails = ({ booker_email, participants = [] }: BookingInput) => [
  booker_email ?? '',
  ...participants.map(({ email }) => email ?? ''),
];

/** Counts the posts of an address, and its places that nobody has paid for, those of free courses too. */
export async function countPosts(w: WriteCtx, address: string) {
  const ofAddress = tenantWhere(w, catalogPosts, eq(catalogPosts.addressHash, address));
  const inLastHour = sql`${catalogPosts.createdAt} > ${currentTime} - interval '1 hour'`;
  const price = sql`${orders.totalBeforeDiscounts} - ${orders.totalDiscounts} + ${orders.totalVat}`;
  const isPaid = and(eq(orders.id, bookings.orderId), eq(orders.isPaid, true), sql`${price} > 0`);
  const [posts, [unpaid]] = await Promise.all([
    w.tx.$count(catalogPosts, and(ofAddress, inLastHour)),
    w.tx
      .select({ places: sql<number>`coalesce(sum(${catalogPosts.places}), 0)::int` })
      .from(catalogPosts)
      .innerJoin(bookings, sameTenant(bookings, catalogPosts, eq(bookings.id, catalogPosts.bookingId)))
      .leftJoin(orders, sameTenant(orders, bookings, isPaid))
      .where(and(ofAddress, isNull(orders.id), ofLastDay)),
  ]);
  return { posts, unpaidPlaces: unpaid?.places ?? 0 };
}
