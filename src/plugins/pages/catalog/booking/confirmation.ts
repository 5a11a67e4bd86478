import type { DateSpan } from '../../../../core/date-format.ts';
import type { Ctx } from '../../../../database/context.ts';
import { execute } from '../../../../database/statements.ts';
import { linkUrl } from '../../../../domains/messages/links/schema.ts';
import { findLink } from '../../../../domains/messages/links/service.ts';
import { loadBookingBalance } from '../../../../domains/orders/payments/balance-service.ts';
import type { View } from '../view.ts';
import { findPost, toToken } from './service.ts';
import * as sql from './sql.ts';

type Place = DateSpan & { name: string; zone: string; statusId: number; dateStatusId: number; title: string };
export type Confirmation = NonNullable<Awaited<ReturnType<typeof loadConfirmation>>>;

/** The booking that a form's key made; undefined without one in the last 24 hours. */
export async function loadConfirmation(school: Ctx, key: string, { hasPersonalPages }: View) {
  const { providerId, unlockedStore: on, settings } = school;
  const post = await findPost(on, providerId, key);
  if (!post?.isOpen) return undefined;
  const token = await toToken(school, key);
  const [places, balance, subject] = await Promise.all([
    execute<Place>(on, sql.listPlaces, [providerId, post.bookingId]),
    loadBookingBalance(school, post.bookingId),
    findLink(on, 'booking', token),
  ]);
  // A link that the school has replaced has ended.
  const link = subject && hasPersonalPages ? linkUrl(settings, 'booking', token) : undefined;
  return { places, balance, mailedTo: post.mailedTo, link };
}
