import { asc, eq, getTableColumns } from 'drizzle-orm';
import { products } from '../../database/tables/courses.ts';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../database/tables/participants.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { relation, type Loader } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { EmbeddedCourse } from '../courses/schema.ts';
import { includeCourse } from '../courses/serializer.ts';
import { includeParticipant } from '../participants/serializer.ts';
import { productColumns } from '../courses/product-serializer.ts';
import { courseUserColumns } from '../users/serializer.ts';
import {
  OrderLine,
  orderUserFields,
  Relation,
  toOrderLine,
  toOrderUser,
  toRelation,
  type OrderLineRow,
  type OrderUser,
  type OrderUserRow,
  type RelationRow,
} from './line-schema.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';

type LineUser = OrderUser & { invoice_reference: string | null };

export const orderUserColumns = Object.fromEntries(
  orderUserFields.map((name) => [name, courseUserColumns[name]]),
) as Pick<typeof courseUserColumns, (typeof orderUserFields)[number]>;

const isOnLine = sameTenant(
  participants,
  orderLineParticipants,
  eq(participants.id, orderLineParticipants.participantId),
);

const loadLineUsers = relation.hasMany(
  batchLoader((ctx, keys) =>
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
  ),
  ({ user, invoiceReference }: UserRow) => Object.assign(toOrderUser(user), { invoice_reference: invoiceReference }),
);
type UserRow = { ownerId: number; invoiceReference: string | null; user: OrderUserRow };

/** The course users of a line, only with `user_data=true`. */
const loadUsers: Loader<OrderLineRow, LineUser[]> = async (ctx, rows, query) =>
  query['user_data'] === true ? loadLineUsers(ctx, rows, query) : () => [];

const fetchRelations = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      providerId: participants.providerId,
      id: participants.id,
      ownerId: orderLineParticipants.orderLineId,
      courseDateId: participants.courseDateId,
      userId: participants.userId,
      courseId: participants.courseId,
    })
    .from(orderLineParticipants)
    .innerJoin(participants, isOnLine)
    .where(keys.match(orderLineParticipants, orderLineParticipants.orderLineId))
    .orderBy(asc(participants.id)),
);

const relationSerializer = defineSerializer<RelationRow>()({
  responseSchema: Relation,
  relations: {},
  toResponse: toRelation,
  includes: {
    course: {
      ...includeCourse((row: RelationRow) => row.courseId, 'unset'),
      schema: EmbeddedCourse,
      names: [],
    },
    participants: includeParticipant((row: RelationRow) => row.id),
  },
});

export const orderLineSerializer = defineSerializer<OrderLineRow>()({
  responseSchema: OrderLine,
  relations: { users: loadUsers },
  toResponse: toOrderLine,
  includes: { database_relations: relation.includeMany(fetchRelations, relationSerializer, 'unset') },
  requiredIncludes: ['database_relations'],
});

/** Order lines by the ids of their orders. */
export const fetchOrderLines = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(orderLines),
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
