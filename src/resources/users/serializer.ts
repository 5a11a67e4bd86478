import { columnsBut } from '../../database/tables/columns.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { byKeys, ofKeys } from '../../lists/loaders.ts';
import { fetchNamed, type Loader } from '../../lists/relations.ts';
import { shapeOf } from '../../lists/serializer.ts';
import type { Customer } from '../customers/schema.ts';
import { customerShape, fetchCustomers } from '../customers/serializer.ts';
import { CourseUser, toCourseUser, type CourseUserRow } from './schema.ts';

/** Part of the item itself, so asked for or not. */
const customerOf: Loader<CourseUserRow, Customer | null> = async (ctx, rows, query) => {
  const found = await fetchNamed(ctx, rows, (row) => row.customerId, fetchCustomers);
  const items = await customerShape.embed(ctx, found, query, []);
  const byId = new Map(found.map(({ id }, n) => [id, items[n]!]));
  return (row) => byId.get(row.customerId ?? 0) ?? null;
};

export const courseUserShape = shapeOf<CourseUserRow>()({
  view: CourseUser,
  parts: { customer: customerOf },
  toView: toCourseUser,
  includes: {},
});

/** What to select of a course user. */
export const courseUserColumns = columnsBut(courseUsers, ['passwordHash']);

/** Course users by their ids. */
export const fetchCourseUsers = byKeys((ctx, keys) =>
  ctx.db
    .select(courseUserColumns)
    .from(courseUsers)
    .where(ofKeys(ctx, courseUsers.providerId, courseUsers.id, keys)),
);
