import { Type } from '@sinclair/typebox';
import { eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { t } from '../../../core/schema/types.ts';
import { folded } from '../../../database/tables/columns.ts';
import { payments } from '../../../database/tables/orders.ts';
import { defineList } from '../../../lists/define-list.ts';
import { filter } from '../../../lists/filters.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { fetchPayments } from './loaders.ts';
import { Payment, PaymentMethod, toPayment, type PaymentRow } from './schema.ts';

const paymentSerializer = defineSerializer<PaymentRow>()({
  reads: ['money'],
  responseSchema: Payment,
  toResponse: toPayment,
});

export const paymentList = defineList({
  table: payments,
  serializer: paymentSerializer,
  sorting: {},
  filters: {
    order_id: filter.selective({ ...t.Id, description: 'Only payments of this order; all unless sent' }, (id) =>
      eq(payments.orderId, id),
    ),
    method: filter.plain({ ...PaymentMethod, description: 'Only payments by this method; all unless sent' }, (method) =>
      eq(payments.method, method),
    ),
    reversed: filter.plain(
      Type.Boolean({ description: 'true: only reversed payments; false: only others; all unless sent' }),
      (reversed) => (reversed ? isNotNull : isNull)(payments.reversedAt),
    ),
    reference: filter.selective(
      t.Title({ description: 'Only payments with an equal `reference`, as a repeated payment has; all unless sent' }),
      (reference) => sql`${folded(payments.reference)} = ${folded(reference)}`,
    ),
    ...filter.timestamps(payments),
    ...filter.dateRange('paid_at', payments.paidAt),
  },
  fetch: fetchPayments,
});
