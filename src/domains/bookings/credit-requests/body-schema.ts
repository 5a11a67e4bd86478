import { Type, type Static } from '@sinclair/typebox';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';

const { Optional } = Type;

const CreditedLine = t.NamedObject('CreditedLine', {
  line_id: { ...t.Id, description: 'A line of the order' },
  quantity: Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Items to credit' })),
  amount: Optional(t.Amount({ minimum: 0.01, description: 'Instead of items: without VAT, after discounts' })),
  participants: Optional(
    t.List(t.Id, {
      minItems: 1,
      description:
        'Ids of participants of the line to whom the credit belongs, at most one for each item. Items that name none ' +
        'belong to those who have left and are not yet credited, then to all who stay; an amount to all',
    }),
  ),
});

/** POST /v2/orders/:id/credit. */
export type CreditBody = Static<typeof CreditBody>;
export const CreditBody = t.NamedObject(
  'CreditCreate',
  {
    lines: Optional(
      t.JsonList(CreditedLine, {
        minItems: 1,
        description: 'With neither items nor amount the rest of a line; the rest of all lines unless sent',
      }),
    ),
    fee: Optional(t.Amount({ description: 'Without VAT; lowers the credited amounts in proportion' })),
    deregister: Optional(Type.Boolean({ default: false, description: 'Deregisters the participants of the lines' })),
    dry_run: dryRun('true: nothing changes, and the response has what would be credited'),
    reason: Optional(t.Line({ description: 'Returned as `credit.reason`' })),
  },
  { examples: [{ lines: [{ line_id: 47, quantity: 1 }], reason: 'Ill' }] },
);
