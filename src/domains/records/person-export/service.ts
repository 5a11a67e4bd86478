import { asc } from 'drizzle-orm';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { personalKeys, rowsOf } from '../../../lists/personal-data.ts';
import { getCourseUser } from '../../people/users/service.ts';
import { findPurchases, findUser } from '../erasures/person-service.ts';
import { pageSize, sections, type PersonExport } from './schema.ts';

/** Everything held about one course user; a page of each list. */
export async function exportCourseUser(ctx: Ctx, userId: number, page: number): Promise<PersonExport> {
  const course_user = await getCourseUser(ctx, userId);
  const user = (await findUser(ctx.unlockedStore, ctx, userId))!;
  const { orders, person } = await findPurchases(ctx.unlockedStore, user, ctx.settings);
  const found = orders.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id);
  const own = found.filter((id) => person.orders.includes(id));
  const lists: Record<string, object[]> = {};
  const incomplete: string[] = [];
  // One after another: a request has one connection.
  for (const [name, { table, columns, find, ofOrders, order, toItem }] of Object.entries(sections)) {
    const isOfAll = ofOrders === 'all';
    const isWhole = ofOrders !== undefined;
    const query = ctx.db
      .select(columns)
      .from(table)
      .where(rowsOf({ table, find }, isWhole ? { ...person, orders: isOfAll ? found : own } : person))
      .orderBy(...order.map((column) => asc(column)))
      .$dynamic();
    const rows: Row[] = await (isWhole ? query : query.limit(pageSize + 1).offset((page - 1) * pageSize));
    if (!isWhole && rows.length > pageSize) incomplete.push(name);
    const shown = isWhole ? rows : rows.slice(0, pageSize);
    // The buyer of an order that another person or a company pays is not of this person.
    const hidden = isOfAll ? Object.fromEntries(personalKeys(table).map((key) => [key, null])) : {};
    const isOwn = (row: Row) => own.includes(Number(row['orderId'] ?? row['id']));
    lists[name] = shown.map((row) => toItem(isOwn(row) ? row : { ...row, ...hidden }, ctx.language));
  }
  if (orders.length > page * pageSize) incomplete.push('orders');
  return {
    ...{ course_user, has_password: user.passwordHash !== null, erased_at: formatTimestamp(user.erasedAt) },
    ...lists,
    ...{ page, incomplete },
  };
}

type Row = Record<string, unknown>;
