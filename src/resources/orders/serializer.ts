import { and, eq, sql } from 'drizzle-orm';
import { bookings, orders } from '../../database/tables/orders.ts';
import { participants } from '../../database/tables/participants.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { byKeys, ofKeys } from '../../lists/loaders.ts';
import { many, type Loader } from '../../lists/relations.ts';
import { alwaysWith, embedMany, embedOne, shapeOf } from '../../lists/serializer.ts';
import { embeddedCampaignShape, fetchCampaigns } from '../campaigns/serializer.ts';
import { customerShape, fetchCustomers } from '../customers/serializer.ts';
import { toOrderUser, type OrderUser, type OrderUserRow } from './line-schema.ts';
import { fetchLinesOf, orderLineShape, orderUserColumns } from './line-serializer.ts';
import { Order, toOrder, type OrderRow } from './schema.ts';

const first = sql`(
  select min(p.id) from ${participants} p where p.provider_id = ${bookings.providerId} and p.booking_id = ${bookings.id}
)`;

const firstUsersOf = many(
  byKeys((ctx, keys) =>
    ctx.db
      .select({ ownerId: bookings.orderId, user: orderUserColumns })
      .from(bookings)
      .innerJoin(participants, and(eq(participants.providerId, bookings.providerId), eq(participants.id, first)))
      .innerJoin(
        courseUsers,
        and(eq(courseUsers.providerId, participants.providerId), eq(courseUsers.id, participants.userId)),
      )
      .where(ofKeys(ctx, bookings.providerId, bookings.orderId, keys)),
  ),
  ({ user }: { ownerId: number; user: OrderUserRow }) => toOrderUser(user),
);

/** The person of an order's first participant; null without one. */
const firstUserOf: Loader<OrderRow, OrderUser | null> = async (ctx, rows, query) => {
  const usersOf = await firstUsersOf(ctx, rows, query);
  return (row) => usersOf(row)[0] ?? null;
};

export const orderShape = alwaysWith(
  ['customer', 'lines'],
  shapeOf<OrderRow>()({
    view: Order,
    parts: { first_user: firstUserOf },
    toView: toOrder,
    includes: {
      customer: {
        ...embedOne((row: OrderRow) => row.customerId, fetchCustomers, customerShape, 'unset'),
        names: [],
      },
      lines: embedMany(fetchLinesOf, orderLineShape, 'unset'),
      campaign: embedOne((row: OrderRow) => row.campaignId, fetchCampaigns, embeddedCampaignShape, 'unset'),
    },
  }),
);

/** Orders by their ids, exported ones too. */
export const fetchOrders = byKeys((ctx, keys) =>
  ctx.db
    .select()
    .from(orders)
    .where(ofKeys(ctx, orders.providerId, orders.id, keys)),
);
