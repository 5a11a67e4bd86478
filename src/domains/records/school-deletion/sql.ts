const limit = (batchSize: number) => `limit ${batchSize === Infinity ? 'all' : batchSize}`;
const inBatch = (table: string, condition: string, batchSize: number) =>
  `ctid = any(array(select ctid from ${table} where ${condition} ${limit(batchSize)})) and ${condition}`;

/** `owned` is a condition with the provider as `$1`. */
export const unlinkRows = (table: string, owned: string, batchSize: number, column: string) =>
  `update ${table} set ${column} = null where ${inBatch(table, `(${owned}) and ${column} is not null`, batchSize)}`;

/** References that rows need: those that they name are deleted later. */
export const boundReferences: Record<string, string> = { orders: 'first_order_id', order_lines: 'credits_line_id' };
const isFree = (table: string) =>
  boundReferences[table] === undefined
    ? 'true'
    : `not exists (select from ${table} r where r.provider_id = $1 and r.${boundReferences[table]} = ${table}.id)`;

/** With memberships the accounts go that no other provider has. */
export const deleteRows = (table: string, owned: string, batchSize: number) =>
  table === 'admin_memberships'
    ? `with gone as (delete from admin_memberships where ${inBatch(table, `(${owned})`, batchSize)} returning admin_user_id),
        accounts as (
          delete from admin_users u using gone where u.id = gone.admin_user_id and not exists (
            select from admin_memberships m where m.admin_user_id = u.id and m.provider_id <> $1))
      select from gone`
    : `delete from ${table} where ${inBatch(table, `(${owned}) and ${isFree(table)}`, batchSize)}`;

type UnsetValue = { column: string; value: string };

/** Unsets the columns of rows of a table `t`, where one of them is set. */
export function unsetColumns(table: string, condition: string, unset: UnsetValue[]) {
  const [columns, values] = [unset.map(({ column }) => `t.${column}`), unset.map(({ value }) => value)];
  return `update ${table} t set ${unset.map(({ column }) => `${column} = default`).join(', ')}
    where ${condition} and (${columns.join(', ')}) is distinct from (${values.join(', ')})`;
}

/** Deletes those of the next rows by id after `$2` that are not kept, and unsets columns of the others. */
export function reduceRows(table: string, batchSize: number, isKept: string, unset: UnsetValue[]) {
  const inPage = 't.provider_id = $1 and t.id in (select id from page)';
  const reduced = unset.length === 0 ? '' : `, reduced as (${unsetColumns(table, `${inPage} and ${isKept}`, unset)})`;
  return `
    with page as (select id from ${table} where provider_id = $1 and id > $2 order by id ${limit(batchSize)}),
      gone as (delete from ${table} t where ${inPage} and not ${isKept} returning 1)${reduced}
    select max(id) as last, count(*)::int as read, (select count(*)::int from gone) as deleted from page`;
}

/** The columns of the provider's own row that invoices need. */
export const invoiceSeller = [
  ...['parent_id', 'root_id', 'title', 'is_active', 'org_nr', 'closed_at'],
  ...['post_address', 'post_zip', 'post_city', 'visit_address', 'visit_zip', 'visit_city'],
];

/** Remembers a deleted provider, once. */
export const rememberDeletion = {
  name: 'remember_deletion',
  text: `insert into erasures (provider_id, created_at, erased_at, orders_kept)
    select p.id, p.created_at, $2, $3 from providers p where p.id = $1 and not exists (
      select from erasures e where e.provider_id = p.id and e.user_id is null and e.created_at = p.created_at
        and e.orders_kept <= $3)`,
};

/** The providers of a list, sub-schools first; those of which the list says both are deleted as a whole. */
export const findListed = {
  name: 'find_listed_providers',
  text: `select p.id, bool_and(coalesce(l.orders_kept, false)) as "keepOrders"
    from jsonb_to_recordset($1) l (provider bigint, created_at timestamptz, orders_kept boolean)
      join providers p on p.id = l.provider and p.created_at = l.created_at
    group by p.id order by p.parent_id is null, p.id`,
};

type Kept = {
  /** SQL condition over `t`; all rows unless given. */
  condition?: string;
  /** All columns unless given; columns that cannot be unset stay anyway. */
  columns?: string[];
};

const isReferred = (by: string, column: string) =>
  `exists (select from ${by} r where r.provider_id = t.provider_id and r.${column} = t.id)`;

/** The rows and columns that invoices of a deleted provider need: orders, their lines, payers, products and courses. */
export const keptForInvoices: Record<string, Kept> = {
  order_lines: {},
  payments: {},
  voucher_redemptions: {},
  orders: {
    columns: [
      ...['customer_id', 'title_detailed', 'currency', 'is_paid', 'payment_method', 'your_reference', 'booker'],
      ...['gln_number', 'invoice_address', 'invoice_address_2', 'invoice_address_3', 'invoice_zipcode', 'invoice_city'],
      ...['total_before_discounts', 'total_discounts', 'total_vat', 'invoiced_at', 'exported_at'],
      ...['kind', 'first_order_id', 'credit_applied'],
    ],
  },
  products: { condition: isReferred('order_lines', 'product_id') },
  vouchers: { condition: isReferred('voucher_redemptions', 'voucher_id') },
  customers: {
    condition: isReferred('orders', 'customer_id'),
    columns: [
      ...['department', 'type', 'status', 'orgnr', 'country', 'customer_reference_id', 'customer_reference'],
      ...['duedate_days', 'invoice_address', 'invoice_address_2', 'invoice_address_3', 'invoice_zipcode'],
      ...['invoice_city'],
    ],
  },
  // Active titles are unique, so the marks of those that are not stay.
  courses: { condition: isReferred('products', 'course_id'), columns: ['is_active', 'deleted_at'] },
};
