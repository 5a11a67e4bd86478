import { eq, not, sql } from 'drizzle-orm';
import type { Tx } from '../../../database/client.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import type { Settings } from '../../../core/settings.ts';
import type { RowOf } from '../../../database/statement.ts';
import { caseFoldedSql, storedColumns } from '../../../database/tables/columns.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { rowsOf, userNameSql, type Person } from '../../../lists/personal-data.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { isMail } from '../../messages/personal-data/schema.ts';
import { findCustomers, findOrders } from './sql.ts';

export type Retention = Pick<Settings, 'timezone' | 'invoiceRetentionYears'>;
type Store = Tx | UnlockedStore;

/** True if another person of the school has the e-mail. */
const isShared = sql<boolean>`exists (${sql.raw(`select from course_users o
  where o.provider_id = course_users.provider_id and o.id <> course_users.id and o.erased_at is null
    and ${caseFoldedSql('o.email')} = ${caseFoldedSql('course_users.email')}
    and ${userNameSql('o')} is distinct from ${userNameSql('course_users')}`)})`;

export type User = NonNullable<Awaited<ReturnType<typeof findUser>>>;
/** A course user; locked, so that no session or link of the person begins meanwhile. */
export async function findUser(on: Store, tenant: { providerId: number }, userId: number, isLocked = false) {
  const query = on
    .select({ ...storedColumns(courseUsers), isShared })
    .from(courseUsers)
    .where(tenantWhere(tenant, courseUsers, eq(courseUsers.id, userId), not(courseUsers.isPlaceholder)))
    .$dynamic();
  const [user] = await (isLocked ? query.for('update') : query);
  return user;
}

/** An order or a customer; `isOwn`: the person is the buyer, whom an invoice needs while `isKept`. */
export type Purchase = Pick<RowOf<typeof findCustomers>, 'id' | 'isOwn' | 'isKept' | 'until'>;
export const toIds = (items: { id: number }[]) => items.map(({ id }) => id);
export const selectOwn = <P extends Purchase>(items: P[]) => items.filter(({ isOwn }) => isOwn);
export const selectKept = (items: Purchase[]) => selectOwn(items).filter(({ isKept }) => isKept);

/** The orders of a course user and the private customers, with those that are the person's, and the mails. */
export async function findPurchases(on: Store, user: User, { timezone, invoiceRetentionYears }: Retention) {
  const { providerId, id: userId, email, customerId, erasedAt, isShared } = user;
  const texts = { email, name: toName(user), isErased: erasedAt !== null, isShared };
  const values = { providerId, ...texts, timezone, years: invoiceRetentionYears ?? 5 };
  const orders = await findOrders(on, { ...values, userId });
  const own = toIds(selectOwn(orders));
  const customers = await findCustomers(on, { ...values, customerId, orders: own });
  const buys = { orders: own, customers: toIds(selectOwn(customers)) };
  const person: Person = { providerId, userId, ...buys, mails: [], isShared };
  const mails = await on
    .select({ id: outbox.id })
    .from(outbox)
    .where(rowsOf({ table: outbox, find: isMail }, person));
  return { orders, customers, person: { ...person, mails: toIds(mails) } };
}
export type Purchases = Awaited<ReturnType<typeof findPurchases>>;

export const toName = ({ firstname, lastname }: User) =>
  [firstname, lastname].filter((one) => one !== null).join(' ') || null;
