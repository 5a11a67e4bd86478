import { member } from '../../core/schema/types.ts';
import { relation, type Loader } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { includeCampaign } from '../campaigns/serializer.ts';
import { includeCredit } from '../credits/serializer.ts';
import { includeCustomer } from '../customers/serializer.ts';
import { includeInvoicing } from '../invoicing/serializer.ts';
import { includeBalance } from '../payments/balance-serializer.ts';
import { fetchOrderLines } from '../order-lines/loaders.ts';
import { toOrderUser, type OrderUser } from '../order-lines/schema.ts';
import { orderLineSerializer } from '../order-lines/serializer.ts';
import { fetchFirstUsers } from './loaders.ts';
import { Order, toOrder, type OrderRow } from './schema.ts';

const loadFirstUsers = relation.hasMany(fetchFirstUsers, ({ user }) => toOrderUser(user));

/** The course user of an order's first participant; null without one. */
const loadFirstUser: Loader<OrderRow, OrderUser | null> = async (ctx, rows, query) => {
  const getUsers = await loadFirstUsers(ctx, rows, query);
  return (row) => getUsers(row)[0] ?? null;
};

export const orderSerializer = defineSerializer<OrderRow>()({
  reads: ['money', 'people'],
  responseSchema: Order,
  relations: { first_user: loadFirstUser },
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
