import { member } from '../../../core/schema/types.ts';
import { relation, type Loader } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { includeCustomer } from '../../people/customers/serializer.ts';
import { includeCampaign } from '../campaigns/serializer.ts';
import { fetchOrderLines } from '../order-lines/loaders.ts';
import { toOrderUser } from '../order-lines/schema.ts';
import { orderLineSerializer } from '../order-lines/serializer.ts';
import { includeBalance } from '../payments/balance-serializer.ts';
import {
  OrderCredit,
  toOrderCredit,
  type CreditedRow,
  OrderInvoicing,
  Order,
  toOrder,
  type OrderRow,
} from './schema.ts';
import { fetchFirstUsers, fetchFollowingOrders, fetchInvoicing } from './loaders.ts';

export const includeInvoicing = relation.include(
  member.financial(OrderInvoicing),
  relation.hasOne(fetchInvoicing, ({ payer, is_pending, uncredited }) => ({ payer, is_pending, uncredited })),
);

const loadFollowing = relation.hasMany(fetchFollowingOrders, ({ id, kind }) => ({ id, kind }));

const loadCredit: Loader<CreditedRow, OrderCredit> = async (ctx, rows, query) => {
  const getFollowing = await loadFollowing(ctx, rows, query);
  return (row) => toOrderCredit(row, getFollowing(row));
};

export const includeCredit = relation.include(member.financial(OrderCredit), loadCredit);

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
