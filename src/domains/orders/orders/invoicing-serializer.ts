import { member } from '../../../core/schema/types.ts';
import { relation } from '../../../lists/relations.ts';
import { fetchInvoicing } from './invoicing-loaders.ts';
import { OrderInvoicing } from './invoicing-schema.ts';

export const includeInvoicing = relation.include(
  member.financial(OrderInvoicing),
  relation.hasOne(fetchInvoicing, ({ payer, is_pending, uncredited }) => ({ payer, is_pending, uncredited })),
);
