import { toNumber } from '../../../core/money.ts';
import { member } from '../../../core/schema/types.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation, type Loader } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { includeCustomer } from '../../people/customers/serializer.ts';
import { includeCampaign } from '../campaigns/serializer.ts';
import { fetchOrderLines } from '../order-lines/loaders.ts';
import { toOrderUser } from '../order-lines/schema.ts';
import { orderLineSerializer } from '../order-lines/serializer.ts';
import { fetchCreditSums, fetchSums } from '../payments/loaders.ts';
import { OrderBalance, toBalance } from '../payments/schema.ts';
import { Order, toOrder, type OrderRow } from './fields.ts';
import { fetchFirstUsers, fetchFollowingOrders, fetchInvoicing } from './loaders.ts';
import { OrderCredit, toOrderCredit, type CreditedRow, OrderInvoicing } from './schema.ts';

const loadSums = relation.hasMany(fetchSums, (sums) => sums);
const loadCreditSums = relation.hasMany(fetchCreditSums, (sums) => sums);
const none = { total: 0n, byVouchers: 0n, due: 0n };

const loadBalance: Loader<Key, OrderBalance> = async (ctx, rows, query) => {
  const [getSums, getCreditSums] = [await loadSums(ctx, rows, query), await loadCreditSums(ctx, rows, query)];
  return (row) => {
    const [{ total, byVouchers, due, applied }, credits = none] = [getSums(row)[0]!, getCreditSums(row)[0]];
    const sums = {
      ...{ ordered: total, total: total + credits.total },
      ...{ byVouchers: byVouchers + credits.byVouchers, due: due + credits.due },
    };
    return { ...toBalance(sums, applied ?? 0n), applied: applied === null ? null : toNumber(applied) };
  };
};

const includeBalance = relation.include(member.financial(OrderBalance), loadBalance);

const includeInvoicing = relation.include(
  member.financial(OrderInvoicing),
  relation.hasOne(fetchInvoicing, ({ payer, is_pending, uncredited }) => ({ payer, is_pending, uncredited })),
);

const loadFollowing = relation.hasMany(fetchFollowingOrders, ({ id, kind }) => ({ id, kind }));

const loadCredit: Loader<CreditedRow, OrderCredit> = async (ctx, rows, query) => {
  const getFollowing = await loadFollowing(ctx, rows, query);
  return (row) => toOrderCredit(row, getFollowing(row));
};

const includeCredit = relation.include(member.financial(OrderCredit), loadCredit);

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
