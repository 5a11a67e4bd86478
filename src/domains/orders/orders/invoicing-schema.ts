import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { Address } from '../../people/customers/schema.ts';

const text = t.Nullable(Type.String());

const Payer = t.NamedObject(
  'Payer',
  t.member.personal.all({
    type: t.OneOf(['customer', 'company', 'booker', 'person']),
    name: text,
    company_number: text,
    email: text,
    invoice_address: Address,
  }),
);

const UncreditedLine = t.NamedObject(
  'UncreditedLine',
  t.member.financial.all({ line_id: Type.Integer(), participants: Type.Array(Type.Integer()) }),
);

/** What an invoicing program needs of an order, with `include[]=invoicing`. */
export type OrderInvoicing = Static<typeof OrderInvoicing>;
export const OrderInvoicing = t.NamedObject('OrderInvoicing', {
  payer: t.member.personal(Payer),
  ...t.member.financial.all({
    is_pending: Type.Boolean({ description: 'true: somebody waits for a place of it, so do not invoice it yet' }),
    uncredited: Type.Array(UncreditedLine, {
      description: 'The `lines` of a credit for those who left free of charge, or waited in vain, and are not credited',
    }),
  }),
});
