import { member } from '../../core/schema/types.ts';
import type { Key } from '../../lists/loaders.ts';
import { relation, type Loader } from '../../lists/relations.ts';
import { fetchInvoicing } from './loaders.ts';
import { OrderInvoicing } from './schema.ts';

const loadInvoicing = relation.hasMany(fetchInvoicing, ({ payer, is_pending, uncredited }): OrderInvoicing => ({
  payer,
  is_pending,
  uncredited,
}));

const loadOne: Loader<Key, OrderInvoicing> = async (ctx, rows, query) => {
  const getFound = await loadInvoicing(ctx, rows, query);
  return (row) => getFound(row)[0]!;
};

export const includeInvoicing = relation.include(member.financial(OrderInvoicing), loadOne);
