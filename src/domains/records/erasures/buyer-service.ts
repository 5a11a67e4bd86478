import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import { byName } from '../../../core/schema/types.ts';
import type { Write } from '../../../database/client.ts';
import { caseFoldedSql, columnName, foldedSql } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bookings, orders } from '../../../database/tables/orders.ts';
import { bind, personalKeys } from '../../../lists/personal-data.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { selectKept, toIds, toName, type Purchase, type Purchases, type User } from './person-service.ts';

const addressKeys = ['Address', 'Address2', 'Address3', 'Zipcode', 'City'] as const;
const invoiceColumns = ['invoice_address', 'invoice_address_2', 'invoice_address_3', 'invoice_zipcode', 'invoice_city'];
const invoiceKeys = addressKeys.map((key) => `invoice${key}` as const);
/** The addresses of a person that have a line. */
const addressesOf = (user: User) =>
  (['invoice', 'home'] as const)
    .map((prefix) => addressKeys.map((key) => user[`${prefix}${key}`]))
    .filter((lines) => lines.some(Boolean));

const isAmong = 'id = any(:ids::bigint[])';

/** Copies the name and the address of the person, who goes, to the invoices without a booker. */
export function keepPayer({ tx, now }: Write, user: User, ids: number[]) {
  const [address = []] = addressesOf(user);
  const copied = address.map((line, n) => {
    const value = `case when concat(${invoiceColumns.join(', ')}) = '' then :line::text else ${invoiceColumns[n]!} end`;
    return [invoiceKeys[n]!, bind(value, { line })] as const;
  });
  const isPaid = tenantWhere(user, orders, bind(`${isAmong} and concat(booker) = ''`, { ids }));
  return tx.updateChanged(
    orders,
    isPaid,
    { booker: toName(user) ?? user.email, ...Object.fromEntries<SQL>(copied) },
    now,
  );
}

/** Clears the booker. The address is that of the company which pays. */
export function clearBooker({ tx, now }: Write, user: User, ids: number[]) {
  const isOwn = `${caseFoldedSql('invoice_email')} = ${caseFoldedSql(':email::text')}`;
  const invoiceEmail = bind(`case when ${isOwn} then null else invoice_email end`, user);
  return tx.updateChanged(
    orders,
    tenantWhere(user, orders, bind(isAmong, { ids })),
    { booker: null, invoiceEmail },
    now,
  );
}

/** Clears the names, phones and addresses of the person in texts of orders of which another person pays next. */
export async function clearShared({ tx, now }: Write, user: User, ids: number[]) {
  const { email, phone, homePhone, workPhone, invoicePhone } = user;
  const values = {
    texts: [toName(user), email, phone, homePhone, workPhone, invoicePhone],
    addresses: addressesOf(user).map((lines) => lines.filter((line) => line !== null).join('\n')),
    ids,
  };
  const isOneOf = (value: string, texts: string) =>
    `${foldedSql(value)} = any(array(select ${foldedSql('x')} from unnest(:${texts}::text[]) x))`;
  const isOwn = (column: string) => isOneOf(column, 'texts');
  const address = isOneOf(`concat_ws(e'\\n', ${invoiceColumns.join(', ')})`, 'addresses');
  const toCleared = (key: string) => {
    if (key === 'customProperties')
      return bind(
        `custom_properties - array(select key from jsonb_each_text(custom_properties) where ${isOwn('value')})`,
        values,
      );
    const column = columnName(getTableColumns(orders)[key as keyof typeof orders.$inferSelect]);
    return bind(
      `case when ${invoiceColumns.includes(column) ? address : isOwn(column)} then null else ${column} end`,
      values,
    );
  };
  const isBooking = bind(`order_id = any(:ids::bigint[]) and ${isOwn('booker_phone')}`, values);
  await tx.updateChanged(bookings, tenantWhere(user, bookings, isBooking), { bookerPhone: null }, now);
  const cleared = byName(personalKeys(orders), toCleared);
  return tx.updateChanged(orders, tenantWhere(user, orders, bind(isAmong, values)), cleared, now);
}

/** The columns of a customer that an invoice shows. */
const ofInvoice = /^(title|orgnr|customerReference|invoice)/;
const notOfInvoice = personalKeys(customers).filter((key) => !ofInvoice.test(key));

/** Keeps the buyers of orders, and private customers without what no invoice shows, until their day. */
export async function keepBuyers({ tx, now }: Write, user: User, bought: Purchases, timezone: string) {
  const toEnd = (kept: Purchase[]) => {
    const days = JSON.stringify(Object.fromEntries(kept.map(({ id, until }) => [id, until])));
    return bind('(:days::jsonb ->> id::text)::timestamp at time zone :timezone', { days, timezone });
  };
  const [ofOrders, ofCustomers] = [selectKept(bought.orders), selectKept(bought.customers)];
  const keptUntil = toEnd(ofOrders);
  const keptUserId = bind('case when kept_until is null then :id else kept_user_id end', user);
  const isChanged = sql`${bind(isAmong, { ids: toIds(ofOrders) })} and kept_until is distinct from ${keptUntil}`;
  const kept = await tx
    .update(orders)
    .set({ keptUntil, keptUserId })
    .where(tenantWhere(user, orders, isChanged));
  const values = { ...byName(notOfInvoice, () => null), keptUntil: toEnd(ofCustomers) };
  const isCustomer = tenantWhere(user, customers, bind(isAmong, { ids: toIds(ofCustomers) }));
  return (kept.rowCount ?? 0) + (await tx.updateChanged(customers, isCustomer, values, now));
}
