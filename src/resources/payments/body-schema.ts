import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { PaymentMethod } from './schema.ts';

/** POST /v2/orders/:id/payments. */
export type PaymentBody = Static<typeof PaymentBody>;
export const PaymentBody = t.NamedObject(
  'PaymentCreate',
  {
    amount: Type.Optional(
      t.Amount({ minimum: -9_999_999_999.99, description: 'What is due unless sent; negative for a credit' }),
    ),
    paid_at: Type.Optional(t.StoredMoment({ description: 'Now unless sent' })),
    method: t.withDefault(PaymentMethod, 'other'),
    reference: Type.Optional(
      t.Line({ description: 'Your name for the payment; a request with the same one finds the payment' }),
    ),
  },
  { examples: [{ amount: 1250, method: 'card', reference: 'terminal-4711' }] },
);
