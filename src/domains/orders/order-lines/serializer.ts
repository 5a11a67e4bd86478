import { t } from '../../../core/schema/types.ts';
import { relation, type Loader } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { EmbeddedCourse } from '../../courses/courses/fields.ts';
import { includeCourse } from '../../courses/courses/serializer.ts';
import { includeParticipant } from '../../participants/participants/serializer.ts';
import { fetchLineUsers, fetchRelations } from './loaders.ts';
import {
  OrderLine,
  Relation,
  toOrderLine,
  toOrderUser,
  toRelation,
  type OrderLineRow,
  type OrderUser,
  type RelationRow,
} from './schema.ts';

type LineUser = OrderUser & { invoice_reference: string | null };

const loadLineUsers = relation.hasMany(fetchLineUsers, ({ user, invoiceReference }) =>
  Object.assign(toOrderUser(user), { invoice_reference: invoiceReference }),
);

/** The course users of a line, only with `user_data=true`. */
const loadUsers: Loader<OrderLineRow, LineUser[]> = async (ctx, rows, query) =>
  query['user_data'] === true ? loadLineUsers(ctx, rows, query) : () => [];

const relationSerializer = defineSerializer<RelationRow>()({
  reads: ['money', 'people', 'dates', 'catalog'],
  responseSchema: Relation,
  toResponse: toRelation,
  includes: {
    course: {
      ...includeCourse((row: RelationRow) => row.courseId, t.member.closed),
      schema: t.member.closed(t.named('OrderedCourse', EmbeddedCourse)),
      names: [],
    },
    participants: includeParticipant((row: RelationRow) => row.id),
  },
});

export const orderLineSerializer = defineSerializer<OrderLineRow>()({
  reads: ['money', 'people', 'dates', 'catalog'],
  responseSchema: OrderLine,
  relations: { users: loadUsers },
  toResponse: toOrderLine,
  includes: { database_relations: relation.includeMany(fetchRelations, relationSerializer, t.member.financial) },
  requiredIncludes: ['database_relations'],
});
