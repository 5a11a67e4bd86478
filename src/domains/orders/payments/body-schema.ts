import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { PaymentMethod } from './schema.ts';

/** POST /v2/orders/:id/payments. */
export type PaymentBody = Static<typeof PaymentBody>;
export const PaymentBody = t.NamedObject(
  'PaymentCreate',
  {
    amount: Type.Optional(
      t.Amount({ minimum: -9_999_999_999.99, description: 'What is due unless sent; negative for a refund' }),
    ),
    currency: Type.Optional(t.Title({ description: 'That of the order in any case; another one is refused' })),
    paid_at: Type.Optional(t.StoredMoment({ description: 'Not after today; now unless sent' })),
    method: Type.Optional({
      ...PaymentMethod,
      description: 'other unless sent; a refund then goes back to the payments, the latest first',
    }),
    reference: Type.Optional(
      t.Title({ description: 'Your name for the payment; a request with an equal one finds the payment' }),
    ),
    overpaid: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'true: money that arrived above what is due counts, too; the school owes it',
      }),
    ),
  },
  { examples: [{ amount: 1250, method: 'card', reference: 'terminal-4711' }] },
);
