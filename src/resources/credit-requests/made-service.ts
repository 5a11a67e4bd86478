import type { Ctx } from '../../database/context.ts';
import type { OrderCredit } from '../credits/schema.ts';
import { findMade } from '../payments/balance-service.ts';
import type { OrderBalance } from '../payments/balance-schema.ts';
import type { MadeOrder } from './schema.ts';
import { getOrder } from '../orders/service.ts';

/** Credits and differences that a write has made; a dry run has no ids. */
export async function readMade(reader: Ctx, ids: number[], isDryRun: boolean): Promise<MadeOrder[]> {
  const made: MadeOrder[] = [];
  for (const id of ids) {
    const order = await getOrder(reader, id, { include: ['credit', 'balance'] });
    const { credit, balance } = order as unknown as { credit: OrderCredit; balance: OrderBalance };
    const { kind, first_order_id } = credit;
    made.push({ ...(!isDryRun && { id }), kind, first_order_id, balance });
  }
  return made;
}

/** The orders and credits that this write made for a booking. */
export const readMadeOf = async (reader: Ctx, bookingId: number, now: string, isDryRun: boolean) =>
  readMade(reader, await findMade(reader, bookingId, now), isDryRun);
