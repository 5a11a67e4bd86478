import { and, asc, eq, getTableColumns } from 'drizzle-orm';
import { products } from '../../database/tables/courses.ts';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../database/tables/participants.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { byKeys, ofKeys } from '../../lists/loaders.ts';
import { many, type Loader } from '../../lists/relations.ts';
import { alwaysWith, embedMany, embedOne, shapeOf } from '../../lists/serializer.ts';
import { EmbeddedCourse } from '../courses/schema.ts';
import { embeddedCourseShape, fetchEmbeddedCourses } from '../courses/serializer.ts';
import { embeddedParticipantShape, fetchParticipants } from '../participants/serializer.ts';
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

type LineUser = OrderUser & { invoice_reference: string | null };

/** What to select of a course user that an order shows. */
export const orderUserColumns = Object.fromEntries(
  orderUserFields.map((name) => [name, courseUserColumns[name]]),
) as Pick<typeof courseUserColumns, (typeof orderUserFields)[number]>;

const named = and(
  eq(participants.providerId, orderLineParticipants.providerId),
  eq(participants.id, orderLineParticipants.participantId),
);

const fetchLineUsers = many(
  byKeys((ctx, keys) =>
    ctx.db
      .select({
        ownerId: orderLineParticipants.orderLineId,
        invoiceReference: participants.invoiceReference,
        user: orderUserColumns,
      })
      .from(orderLineParticipants)
      .innerJoin(participants, named)
      .innerJoin(
        courseUsers,
        and(eq(courseUsers.providerId, participants.providerId), eq(courseUsers.id, participants.userId)),
      )
      .where(ofKeys(ctx, orderLineParticipants.providerId, orderLineParticipants.orderLineId, keys))
      .orderBy(asc(participants.id)),
  ),
  ({ user, invoiceReference }: UserFound) => Object.assign(toOrderUser(user), { invoice_reference: invoiceReference }),
);
type UserFound = { ownerId: number; invoiceReference: string | null; user: OrderUserRow };

/** The people of a line, only when `user_data` asks for them. */
const usersOf: Loader<OrderLineRow, LineUser[]> = async (ctx, rows, query) =>
  query['user_data'] === true ? fetchLineUsers(ctx, rows, query) : () => [];

const fetchRelations = byKeys((ctx, keys) =>
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
    .innerJoin(participants, named)
    .where(ofKeys(ctx, orderLineParticipants.providerId, orderLineParticipants.orderLineId, keys))
    .orderBy(asc(participants.id)),
);

const relationShape = shapeOf<RelationRow>()({
  view: Relation,
  parts: {},
  toView: toRelation,
  includes: {
    course: {
      ...embedOne((row: RelationRow) => row.courseId, fetchEmbeddedCourses, embeddedCourseShape, 'unset'),
      schema: EmbeddedCourse,
      names: [],
    },
    participants: {
      ...embedOne((row: RelationRow) => row.id, fetchParticipants, embeddedParticipantShape, 'unset'),
      schema: embeddedParticipantShape.schema,
    },
  },
});

/** A line of an order, with the participants that it pays for. */
export const orderLineShape = alwaysWith(
  ['database_relations'],
  shapeOf<OrderLineRow>()({
    view: OrderLine,
    parts: { users: usersOf },
    toView: toOrderLine,
    includes: { database_relations: embedMany(fetchRelations, relationShape, 'unset') },
  }),
);

/** The lines of orders, by the ids of the orders. */
export const fetchLinesOf = byKeys((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(orderLines),
      ownerId: orderLines.orderId,
      currency: orders.currency,
      product: productColumns,
    })
    .from(orderLines)
    .innerJoin(orders, and(eq(orders.providerId, orderLines.providerId), eq(orders.id, orderLines.orderId)))
    .innerJoin(products, and(eq(products.providerId, orderLines.providerId), eq(products.id, orderLines.productId)))
    .where(ofKeys(ctx, orderLines.providerId, orderLines.orderId, keys))
    .orderBy(asc(orderLines.id)),
);
