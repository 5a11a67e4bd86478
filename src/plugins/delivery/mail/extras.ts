import type { Database } from '../../../database/client.ts';
import { loadBookingBalance } from '../../../resources/payments/balance-service.ts';
import { showsAmounts } from './amounts.ts';
import type { Extras } from './compose.ts';
import type { MailData } from './mail-data.ts';
import { loadReceipt } from './receipt.ts';

/** The amounts of those who see them, and all of the booking for the payer's receipt. */
export async function loadExtras({ db }: Pick<Database, 'db'>, mail: MailData): Promise<Extras> {
  const { purpose, providerId, bookingId, orderId } = mail;
  if (!showsAmounts(mail)) return {};
  const school = { providerId, db };
  const balance = await loadBookingBalance(school, bookingId!);
  return { balance, receipt: purpose === 'booking_receipt' ? await loadReceipt(school, bookingId!, orderId!) : null };
}
