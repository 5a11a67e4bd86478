import { asc, sql } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import { customers } from '../../database/tables/customers.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { dateRange } from '../../lists/filter.ts';
import { defineList } from '../../lists/list.ts';
import { byKeys, ofKeys } from '../../lists/keys.ts';
import { own } from '../../lists/reach.ts';
import { embedMany } from '../../lists/shape.ts';
import type { Shape } from '../../lists/shape.ts';
import { courseUserColumns, courseUserShape } from '../users/shape.ts';
import type { CourseUserRow } from '../users/schema.ts';
import { privateType, type CustomerRow } from './schema.ts';
import { customerShape, fetchCustomers } from './shape.ts';

const employees = embedMany<CourseUserRow & { ownerId: number }>(
  byKeys((ctx, keys) =>
    ctx.db
      .select({ ...courseUserColumns, ownerId: sql<number>`${courseUsers.customerId}`.mapWith(Number) })
      .from(courseUsers)
      .where(ofKeys(ctx, courseUsers.providerId, courseUsers.customerId, keys))
      .orderBy(asc(courseUsers.id)),
  ),
  courseUserShape,
  'unset',
);

const CustomerWithEmployees = Type.Object({
  ...customerShape.schema.properties,
  employees: Type.Optional(employees.schema),
});

/** A customer with its course users where they are asked for; a private customer, who is one of them, always has them. */
const listedShape: Shape<CustomerRow, typeof CustomerWithEmployees> = {
  schema: CustomerWithEmployees,
  names: ['employees'],
  async embed(ctx, rows, query, asked) {
    const items = await customerShape.embed(ctx, rows, query, []);
    const whole = rows.filter(({ type }) => type === privateType || asked.includes('employees'));
    if (whole.length === 0) return items;
    const employeesOf = await employees.load(ctx, whole, query, []);
    const shown = new Set(whole);
    return items.map((item, n) => (shown.has(rows[n]!) ? { ...item, employees: employeesOf(rows[n]!) } : item));
  },
};

export const customerList = defineList({
  table: customers,
  shape: listedShape,
  scope: (ctx) => own(ctx, customers),
  filters: { ...dateRange('created_at', customers.createdAt), ...dateRange('updated_at', customers.updatedAt) },
  fetch: fetchCustomers,
});
