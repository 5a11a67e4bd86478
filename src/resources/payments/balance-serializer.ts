import { toNumber } from '../../core/money.ts';
import { member } from '../../core/schema/types.ts';
import type { Key } from '../../lists/loaders.ts';
import { relation, type Loader } from '../../lists/relations.ts';
import { OrderBalance, toBalance } from './balance-schema.ts';
import { fetchBalances } from './loaders.ts';

const loadBalances = relation.hasMany(fetchBalances, ({ applied, ...sums }) => ({
  ...toBalance(sums, applied ?? 0n),
  applied: applied === null ? null : toNumber(applied),
}));

const loadBalance: Loader<Key, OrderBalance> = async (ctx, rows, query) => {
  const getBalances = await loadBalances(ctx, rows, query);
  return (row) => getBalances(row)[0]!;
};

export const includeBalance = relation.include(member.financial(OrderBalance), loadBalance);
