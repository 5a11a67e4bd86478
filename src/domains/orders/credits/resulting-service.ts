import type { Ctx } from '../../../database/context.ts';
import type { OrderCredit } from '../orders/schema.ts';
import type { OrderBalance } from '../payments/schema.ts';
import type { ResultingOrder } from './schema.ts';
import { getOrder } from '../orders/service.ts';

/** Credits and differences that a write has made; a dry run has no ids. */
export async function readResultingOrders(reader: Ctx, ids: number[], isDryRun: boolean): Promise<ResultingOrder[]> {
  const results: ResultingOrder[] = [];
  for (const id of ids) {
    const order = await getOrder(reader, id, { include: ['credit', 'balance'] });
    const { credit, balance } = order as unknown as { credit: OrderCredit; balance: OrderBalance };
    const { kind, first_order_id } = credit;
    results.push({ ...(!isDryRun && { id }), kind, first_order_id, balance });
  }
  return results;
}
