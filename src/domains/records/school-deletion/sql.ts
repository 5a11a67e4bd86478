import { getTableName, sql, type SQL } from 'drizzle-orm';
import { statement } from '../../../database/statement.ts';
import type { TenantTable } from '../../../database/tenant-tables.ts';
import { isReferred, type Kept } from '../../../lists/personal-data.ts';
import { entries } from '../register/schema.ts';

// Text: tables that the catalog names, and the rows of a list beside the backups.

const { raw } = sql;
/** `limit` rows at most: Infinity for all. */
type Batch = { providerId: number; limit: number };

/** The rows of the provider in a table; others that refer to its own ones among them. */
const isOwned = ({ owners }: TenantTable, { providerId }: Batch) =>
  sql`(${sql.join(
    owners.map((column) => sql`${raw(column)} = ${providerId}`),
    raw(' or '),
  )})`;
const toLimit = ({ limit }: Batch) => raw(`limit ${limit === Infinity ? 'all' : limit}`);
const inBatch = (table: TenantTable, condition: SQL, batch: Batch) =>
  sql`ctid = any(array(select ctid from ${raw(table.name)} where ${condition} ${toLimit(batch)})) and ${condition}`;

export function unlinkRows(table: TenantTable, batch: Batch, column: string) {
  const isLinked = sql`${isOwned(table, batch)} and ${raw(column)} is not null`;
  return sql`update ${raw(table.name)} set ${raw(column)} = null where ${inBatch(table, isLinked, batch)}`;
}

/** References that rows need: those that they name are deleted later. */
export const boundReferences: Record<string, string> = { orders: 'first_order_id', order_lines: 'credits_line_id' };

/** Deletes rows; with memberships the accounts that no other provider has. */
export function deleteRows(table: TenantTable, batch: Batch) {
  const { name } = table;
  const bound = boundReferences[name];
  const isFree =
    bound &&
    sql` and not exists (
    select from ${raw(name)} r where r.provider_id = ${batch.providerId} and r.${raw(bound)} = ${raw(name)}.id)`;
  const deletion = sql`delete from ${raw(name)} where ${inBatch(table, sql`${isOwned(table, batch)}${isFree}`, batch)}`;
  if (name !== 'admin_memberships') return deletion;
  return sql`with gone as (${deletion} returning admin_user_id), accounts as (
      delete from admin_users u using gone where u.id = gone.admin_user_id and not exists (
        select from admin_memberships m where m.admin_user_id = u.id and m.provider_id <> ${batch.providerId}))
    select from gone`;
}

type UnsetValue = { column: string; value: string };

/** Unsets the columns of rows of a table `t`, where one of them is set. */
export function unsetColumns(table: string, condition: SQL, unset: UnsetValue[]) {
  const [columns, values] = [unset.map(({ column }) => `t.${column}`), unset.map(({ value }) => value)];
  return sql`update ${raw(`${table} t set ${unset.map(({ column }) => `${column} = default`).join(', ')}`)}
    where ${condition} and ${raw(`(${columns.join(', ')}) is distinct from (${values.join(', ')})`)}`;
}

/** Deletes those of the next rows by id that are not kept, and unsets columns of the others. */
export function reduceRows(
  table: string,
  batch: Batch,
  last: number,
  { condition = 'true' }: Kept,
  unset: UnsetValue[],
) {
  const isKept = raw(condition);
  const inPage = sql`t.provider_id = ${batch.providerId} and t.id in (select id from page)`;
  const reduced = unset.length > 0 && sql`, reduced as (${unsetColumns(table, sql`${inPage} and ${isKept}`, unset)})`;
  return sql`
    with page as (
        select id from ${raw(table)} where provider_id = ${batch.providerId} and id > ${last} order by id ${toLimit(batch)}),
      gone as (delete from ${raw(table)} t where ${inPage} and not ${isKept} returning 1)${reduced || undefined}
    select max(id) as last, count(*)::int as read, (select count(*)::int from gone) as deleted from page`;
}

/** The columns of the provider's own row that invoices need. */
export const invoiceSeller = `parent_id root_id title is_active org_nr closed_at post_address post_zip post_city
  visit_address visit_zip visit_city`;

/** Remembers a deleted provider, once. */
export const rememberDeletion = statement(
  'remember_deletion',
  { takes: { providerId: 'int', now: 'moment', keepOrders: 'bool' } },
  `insert into erasures (provider_id, created_at, erased_at, orders_kept)
    select p.id, p.created_at, :now, :keepOrders from providers p where p.id = :providerId and not exists (
      select from erasures e where e.provider_id = p.id and e.user_id is null and e.created_at = p.created_at
        and e.orders_kept <= :keepOrders)`,
);

/** The providers of a list, sub-schools first; those of which the list says both are deleted as a whole. */
export const findListed = statement(
  'find_listed_providers',
  {
    takes: { list: { rows: { provider: 'int', created_at: 'moment', orders_kept: 'bool?' } } },
    returns: { id: 'int', keepOrders: 'bool' },
    acrossSchools: 'a list has the erasures of all schools',
  },
  `select p.id, bool_and(coalesce(list.orders_kept, false)) as "keepOrders"
    from :list join providers p on p.id = list.provider and p.created_at = list.created_at
    group by p.id order by p.parent_id is null, p.id`,
);

/** Rows and columns that invoices of a deleted provider need; a column that cannot be null stays anyway. */
export const keptForInvoices: Record<string, Kept> = {
  ...Object.fromEntries(entries.flatMap(({ table, invoice }) => (invoice ? [[getTableName(table), invoice]] : []))),
  products: { condition: isReferred('order_lines', 'product_id') },
  vouchers: { condition: isReferred('voucher_redemptions', 'voucher_id') },
  // Active titles are unique, so the marks of those that are not stay.
  courses: { condition: isReferred('products', 'course_id'), columns: 'is_active deleted_at' },
};
