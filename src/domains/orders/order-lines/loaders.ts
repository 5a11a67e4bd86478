import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import { products } from '../../../database/tables/courses.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { productColumns } from '../../courses/products/fields.ts';
import { courseUserColumns } from '../../people/users/loaders.ts';
import { orderUserFields } from './schema.ts';

/** The net amount of the row `line` of order lines. */
const netSql = (line: string) => `${line}.quantity * ${line}.price_at_order - ${line}.discount_calculated_at_order`;

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

export const orderUserColumns = Object.fromEntries(
  orderUserFields.map((name) => [name, courseUserColumns[name]]),
) as Pick<typeof courseUserColumns, (typeof orderUserFields)[number]>;

const isOnLine = sameTenant(
  participants,
  orderLineParticipants,
  eq(participants.id, orderLineParticipants.participantId),
);

export const fetchLineUsers = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ownerId: orderLineParticipants.orderLineId,
      invoiceReference: participants.invoiceReference,
      user: orderUserColumns,
    })
    .from(orderLineParticipants)
    .innerJoin(participants, isOnLine)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .where(keys.match(orderLineParticipants, orderLineParticipants.orderLineId))
    .orderBy(asc(participants.id)),
);

const { providerId, id, courseDateId, userId, courseId } = participants;

export const fetchRelations = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: orderLineParticipants.orderLineId, providerId, id, courseDateId, userId, courseId })
    .from(orderLineParticipants)
    .innerJoin(participants, isOnLine)
    .where(keys.match(orderLineParticipants, orderLineParticipants.orderLineId))
    .orderBy(asc(participants.id)),
);

const net = netSql('order_lines');

/** The VAT as totals have it: rounded half away from zero for each line. */
const vat = `round((${net}) * order_lines.vat_percentage / 100, 2) + order_lines.vat_rounding`;

export const fetchOrderLines = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(orderLines),
      net: sql<number>`${sql.raw(net)}`,
      vat: sql<number>`${sql.raw(vat)}`,
      gross: sql<number>`${sql.raw(`${net} + ${vat}`)}`,
      ownerId: orderLines.orderId,
      currency: orders.currency,
      product: productColumns,
    })
    .from(orderLines)
    .innerJoin(orders, sameTenant(orders, orderLines, eq(orders.id, orderLines.orderId)))
    .innerJoin(products, sameTenant(products, orderLines, eq(products.id, orderLines.productId)))
    .where(keys.match(orderLines, orderLines.orderId))
    .orderBy(asc(orderLines.id)),
);
