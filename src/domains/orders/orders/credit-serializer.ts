import { member } from '../../../core/schema/types.ts';
import { relation, type Loader } from '../../../lists/relations.ts';
import { fetchFollowingOrders } from './credit-loaders.ts';
import { OrderCredit, toOrderCredit, type OrderRow } from './credit-schema.ts';

const loadFollowing = relation.hasMany(fetchFollowingOrders, ({ id, kind }) => ({ id, kind }));

const loadCredit: Loader<OrderRow, OrderCredit> = async (ctx, rows, query) => {
  const getFollowing = await loadFollowing(ctx, rows, query);
  return (row) => toOrderCredit(row, getFollowing(row));
};

export const includeCredit = relation.include(member.financial(OrderCredit), loadCredit);
