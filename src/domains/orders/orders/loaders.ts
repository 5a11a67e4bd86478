import { eq } from 'drizzle-orm';
import { bookings, orders } from '../../../database/tables/orders.ts';
import { firstParticipantId, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { batchLoader, rowLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { orderUserColumns } from '../order-lines/loaders.ts';

/** The course users of the first participants of orders. */
export const fetchFirstUsers = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: bookings.orderId, user: orderUserColumns })
    .from(bookings)
    .innerJoin(participants, sameTenant(participants, bookings, eq(participants.id, firstParticipantId)))
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .where(keys.match(bookings, bookings.orderId)),
);

export const fetchOrders = rowLoader(orders);
