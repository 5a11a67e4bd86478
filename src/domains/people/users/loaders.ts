import { asc, eq, sql } from 'drizzle-orm';
import { omitColumns } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';

/** All columns but the password hash. */
export const courseUserColumns = omitColumns(courseUsers, ['passwordHash']);

/** False of one that stands for a place of a group without a name. */
export const isPerson = sql`not ${courseUsers.isPlaceholder}`;

export const fetchCourseUsers = batchLoader((ctx, keys) =>
  ctx.db.select(courseUserColumns).from(courseUsers).where(keys.match(courseUsers, courseUsers.id)),
);

/** The maximum of employees inside a customer; all are in a list of their own. */
export const maxEmbedded = 100;

/** The first employees of each customer, with one more than are embedded. */
export const fetchEmployees = batchLoader((ctx, keys) => {
  const first = ctx.db
    .select(courseUserColumns)
    .from(courseUsers)
    .where(sameTenant(courseUsers, customers, eq(courseUsers.customerId, customers.id)))
    .orderBy(asc(courseUsers.id))
    // A literal: a generic plan estimates a parameter as a tenth of the table.
    .limit(sql.raw(String(maxEmbedded + 1)) as unknown as number)
    .as('first');
  return ctx.db
    .select({ ...first._.selectedFields, ownerId: customers.id })
    .from(customers)
    .innerJoinLateral(first, sql`true`)
    .where(keys.match(customers, customers.id))
    .orderBy(asc(first.id));
});
