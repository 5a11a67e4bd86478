import { asc, sql } from 'drizzle-orm';
import { orders } from '../../database/tables/orders.ts';
import { batchLoader } from '../../lists/loaders.ts';

export const fetchFollowingOrders = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: sql<number>`${orders.firstOrderId}`, id: orders.id, kind: orders.kind })
    .from(orders)
    .where(keys.match(orders, orders.firstOrderId))
    .orderBy(asc(orders.id)),
);

/** The net amount of the row `line` of order lines. */
export const netSql = (line: string) =>
  `${line}.quantity * ${line}.price_at_order - ${line}.discount_calculated_at_order`;

/**
 * The participants of the row `line` of order lines that is no credit: what was `charged` of each, without VAT, what is
 * left of that after the credits of the line as `share`, and whether one of these was of the participant's item.
 */
export const sharesSql = (line: string) => `(
  select s.participant_id, coalesce(sum(s.part) filter (where s.line_id = ${line}.id), 0.00) as charged,
    sum(s.part) as share, bool_or(s.is_credited) as is_credited
  from (
    select m.id as line_id, n.participant_id, n.is_credited, coalesce(n.amount,
      round((${netSql('m')}) * row_number() over (of_line order by n.participant_id) / count(*) over of_line, 2)
        - round((${netSql('m')}) * (row_number() over (of_line order by n.participant_id) - 1) / count(*) over of_line, 2)
      ) as part
    from order_lines m
      join order_line_participants n on n.provider_id = m.provider_id and n.order_line_id = m.id
    where m.provider_id = ${line}.provider_id and (m.id = ${line}.id or m.credits_line_id = ${line}.id)
    window of_line as (partition by m.id)) s
  group by s.participant_id)`;
