import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { OrderCredit } from '../orders/schema.ts';
import { OrderBalance } from '../payments/schema.ts';

/** A credit or a difference that a request has made, or would make. */
export type ResultingOrder = Static<typeof ResultingOrder>;
export const ResultingOrder = t.NamedObject(
  'ResultingOrder',
  t.member.financial.all({
    id: Type.Optional(Type.Integer({ description: 'Not in a dry run' })),
    kind: OrderCredit.properties.kind,
    first_order_id: OrderCredit.properties.first_order_id,
    balance: OrderBalance,
  }),
);

/** POST /v2/orders/:id/credit with `dry_run`. */
export const CreditDryRun = t.NamedObject(
  'CreditDryRun',
  t.member.financial.all({ dry_run: Type.Boolean(), orders: Type.Array(ResultingOrder) }),
);
