import { member } from '../../../core/schema/types.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { includeCampaign } from '../campaigns/serializer.ts';
import { includeCredit } from './credit-serializer.ts';
import { includeCustomer } from '../../people/customers/serializer.ts';
import { includeInvoicing } from './invoicing-serializer.ts';
import { includeBalance } from '../payments/balance-serializer.ts';
import { fetchOrderLines } from '../order-lines/loaders.ts';
import { toOrderUser } from '../order-lines/schema.ts';
import { orderLineSerializer } from '../order-lines/serializer.ts';
import { fetchFirstUsers } from './loaders.ts';
import { Order, toOrder, type OrderRow } from './schema.ts';

export const orderSerializer = defineSerializer<OrderRow>()({
  reads: ['money', 'people'],
  responseSchema: Order,
  relations: { first_user: relation.hasOne(fetchFirstUsers, ({ user }) => toOrderUser(user), null) },
  toResponse: toOrder,
  includes: {
    customer: includeCustomer((row: OrderRow) => row.customerId),
    lines: relation.includeMany(fetchOrderLines, orderLineSerializer, member.financial),
    campaign: includeCampaign((row: OrderRow) => row.campaignId),
    credit: includeCredit,
    balance: includeBalance,
    invoicing: includeInvoicing,
  },
  requiredIncludes: ['customer', 'lines'],
});
