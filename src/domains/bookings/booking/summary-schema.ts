import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { bookingSummary, createSummarySchema } from './schema.ts';
import { Balance } from '../../orders/payments/balance-schema.ts';

/** GET /v2/booking/:id. Amounts are in the order's currency. */
export type StoredBooking = Static<typeof StoredBooking>;
export const StoredBooking = createSummarySchema('StoredBooking', {
  ...bookingSummary,
  paid_by_voucher: Type.Number({ description: 'The part of the total that a voucher has paid' }),
  to_pay: Type.Number({ description: 'What is left to pay of all its orders' }),
  balance: Type.Optional(Balance),
});

const Include = t.named('BookingInclude', t.OneOf(['balance']));

/** Its parameters. */
export type BookingQuery = Static<typeof BookingQuery>;
export const BookingQuery = Type.Object({
  include: Type.Optional(t.List(Include, { maxItems: 100, description: 'Related data to embed; none unless sent' })),
});
