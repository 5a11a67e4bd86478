import type { Settings } from '../../../core/settings.ts';
import type { Database } from '../../../database/client.ts';
import { loadBookingBalance } from '../../../domains/orders/payments/balance-service.ts';
import { loadCredit } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { showsAmounts } from './amounts.ts';
import type { Extras } from './compose.ts';
import type { MailData } from './mail-data.ts';
import { loadPublishedDate } from './published-date.ts';
import { loadReceipt } from './receipt.ts';

/** The amounts of those who see them, all of the booking for the payer's receipt, and the price of a new date. */
export async function loadExtras(
  { db, pool }: Pick<Database, 'db' | 'pool'>,
  settings: Settings,
  mail: MailData,
): Promise<Extras> {
  const { purpose, providerId, bookingId, orderId } = mail;
  if (purpose === 'date_published') {
    const published = await loadPublishedDate({ $client: pool }, settings, mail);
    return { published, link: published.href };
  }
  if (purpose === 'deregistration') {
    const credit = await loadCredit({ $client: pool }, providerId, mail.participantId!);
    if (credit?.isOwn) return { credit };
  }
  if (!showsAmounts(mail)) return {};
  const school = { providerId, db };
  const balance = await loadBookingBalance(school, bookingId!);
  return { balance, receipt: purpose === 'booking_receipt' ? await loadReceipt(school, bookingId!, orderId!) : null };
}
