import { eq, sql } from 'drizzle-orm';
import { bookings, orders } from '../../database/tables/orders.ts';
import { participants } from '../../database/tables/participants.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { relation, type Loader } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { includeCampaign } from '../campaigns/serializer.ts';
import { includeCustomer } from '../customers/serializer.ts';
import { toOrderUser, type OrderUser, type OrderUserRow } from './line-schema.ts';
import { fetchOrderLines, orderLineSerializer, orderUserColumns } from './line-serializer.ts';
import { Order, toOrder, type OrderRow } from './schema.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';

const firstParticipantId = sql`(
  select min(p.id) from ${participants} p where p.provider_id = ${bookings.providerId} and p.booking_id = ${bookings.id}
)`;

const loadFirstUsers = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: bookings.orderId, user: orderUserColumns })
      .from(bookings)
      .innerJoin(participants, sameTenant(participants, bookings, eq(participants.id, firstParticipantId)))
      .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
      .where(keys.match(bookings, bookings.orderId)),
  ),
  ({ user }: { ownerId: number; user: OrderUserRow }) => toOrderUser(user),
);

/** The course user of an order's first participant; null without one. */
const loadFirstUser: Loader<OrderRow, OrderUser | null> = async (ctx, rows, query) => {
  const usersOf = await loadFirstUsers(ctx, rows, query);
  return (row) => usersOf(row)[0] ?? null;
};

export const orderSerializer = defineSerializer<OrderRow>()({
  responseSchema: Order,
  relations: { first_user: loadFirstUser },
  toResponse: toOrder,
  includes: {
    customer: includeCustomer((row: OrderRow) => row.customerId),
    lines: relation.includeMany(fetchOrderLines, orderLineSerializer, 'unset'),
    campaign: includeCampaign((row: OrderRow) => row.campaignId),
  },
  requiredIncludes: ['customer', 'lines'],
});

/** Orders by their ids, exported ones too. */
export const fetchOrders = batchLoader((ctx, keys) =>
  ctx.db.select().from(orders).where(keys.match(orders, orders.id)),
);
