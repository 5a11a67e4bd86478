import { hash } from 'node:crypto';
import { deriveProviderSecret, hashSecret } from '../../../../core/secrets.ts';
import type { DateSpan } from '../../../../core/date-format.ts';
import type { Ctx } from '../../../../database/context.ts';
import type { Tx } from '../../../../database/client.ts';
import { loadServiceSecret } from '../../../../database/service-state.ts';
import { execute, type Queryable } from '../../../../database/statements.ts';
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
import * as sql from './sql.ts';

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
export const isPostOf = ({ fingerprint }: sql.PostFound, own: string) => fingerprint === null || fingerprint === own;

/** The secret of the payer's page. */
export const toToken = async ({ providerId, unlockedStore }: Ctx, key: string) =>
  deriveProviderSecret(await loadServiceSecret(unlockedStore), providerId, 'booking link', key);

/** The booking of a key. */
export async function findPost(on: Queryable, providerId: number, key: string) {
  const [found] = await execute<sql.PostFound>(on, sql.findPost, [providerId, hashSecret(key)]);
  return found;
}

type FormPost = {
  key: string;
  /** Of the fields. */
  fingerprint: string;
  /** Undefined for a closed connection. */
  ip: string | undefined;
  /** Of the price that was shown. */
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
  await ctx.write(bookingAreas, async (tx, now) => {
    const { providerId } = ctx;
    const keyHash = hashSecret(key);
    const emails = listEmails(input);
    const receipts = await isMailSwitchedOn(ctx, tx, 'receipt');
    const [known, [link], counts, isSent] = await Promise.all([
      findPost(tx, providerId, key),
      execute(tx, sql.findFormLink, [providerId, hashSecret(token)]),
      countPosts(ctx, tx, address),
      decideFormMails(ctx, tx, receipts ? emails : emails.slice(0, 1)),
    ]);
    if (known && !isPostOf(known, fingerprint)) throw new FormReused();
    if (known) {
      tx.rollbackNoChange();
      return;
    }
    if (link) throw new FormEnded();
    const places = emails.length - 1;
    if (counts.posts >= formLimits.postsPerHour) throw new AddressLimited('posts');
    if (counts.unpaidPlaces + places > formLimits.unpaidPlacesPerDay) throw new AddressLimited('places');

    const [toBooker = false, ...toParticipants] = emails.map((_email, n) => isSent[n] ?? false);
    const mails: RequestedMails = { toBooker, toParticipants };
    const assertAgreed = (quote: BookingQuote) => {
      if (toVersion(quote, date) !== version) throw new PriceChanged();
    };
    const { summary } = await bookWithin(ctx, tx, now, input, [], { assertAgreed, mails });
    const bookingId = Number(summary.booking_id);
    const mailed = emails.filter((_email, n) => isSent[n]);
    const values = [providerId, keyHash, bookingId, address, places, JSON.stringify(mailed), fingerprint];
    await execute(tx, sql.storePost, values);
    await createLink(tx, { providerId, bookingId, participantId: null }, { token });
  });
}

/** Of the booker, and of each participant; empty if it is missing, which the booking service reports. */
const listEmails = ({ booker_email, participants = [] }: BookingInput) => [
  booker_email ?? '',
  ...participants.map(({ email }) => email ?? ''),
];

export async function countPosts({ providerId }: Ctx, tx: Tx, address: string) {
  const [counts] = await execute<sql.PostCounts>(tx, sql.countPosts, [providerId, address]);
  return counts!;
}
