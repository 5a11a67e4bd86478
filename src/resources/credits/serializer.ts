import { member } from '../../core/schema/types.ts';
import { relation, type Loader } from '../../lists/relations.ts';
import { fetchCreditIds } from './loaders.ts';
import { OrderCredit, toOrderCredit, type OrderRow } from './schema.ts';

const loadCreditIds = relation.hasMany(fetchCreditIds, ({ id }) => id);

const loadCredit: Loader<OrderRow, OrderCredit> = async (ctx, rows, query) => {
  const getIds = await loadCreditIds(ctx, rows, query);
  return (row) => toOrderCredit(row, getIds(row));
};

export const includeCredit = relation.include(member.financial(OrderCredit), loadCredit);
