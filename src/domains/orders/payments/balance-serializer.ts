import { toNumber } from '../../../core/money.ts';
import { member } from '../../../core/schema/types.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation, type Loader } from '../../../lists/relations.ts';
import { OrderBalance, toBalance } from './schema.ts';
import { fetchCreditSums, fetchSums } from './loaders.ts';

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

export const includeBalance = relation.include(member.financial(OrderBalance), loadBalance);
