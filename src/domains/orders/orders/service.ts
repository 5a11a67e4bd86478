import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { orderList, type OrderQuery } from './list.ts';

/** One order, exported or not. */
export const getOrder = async (ctx: Ctx, id: number, query: Static<typeof OrderQuery> = {}, isAfterWrite = false) =>
  Problem.assertFound(await orderList.byId(ctx, id, query, { isAfterWrite }), 'Order');
