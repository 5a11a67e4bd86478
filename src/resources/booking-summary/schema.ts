import { Type, type Static } from '@sinclair/typebox';
import { bookingSummary, createSummarySchema } from '../booking/schema.ts';

/** GET /v2/booking/:id. Amounts are in the order's currency. */
export type StoredBooking = Static<typeof StoredBooking>;
export const StoredBooking = createSummarySchema('StoredBooking', {
  ...bookingSummary,
  paid_by_voucher: Type.Number({ description: 'The part of the total that a voucher has paid' }),
  to_pay: Type.Number({ description: '0 for a paid order' }),
});
