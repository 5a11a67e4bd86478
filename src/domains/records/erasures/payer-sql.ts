import { foldedSql, markedColumns } from '../../../database/tables/columns.ts';
import { orders } from '../../../database/tables/orders.ts';

const addressFields = ['address', 'address_2', 'address_3', 'zipcode', 'city'];
const toAddress = (prefix: string) => addressFields.map((field) => `${prefix}_${field}`).join(', ');
const toLines = (prefix: string) => foldedSql(`concat_ws(e'\\n', ${toAddress(prefix)})`);

/** Copies the name and the address of the person, who goes, to the invoices `$3` without a booker. */
export const keepPayer = {
  name: 'keep_payer',
  text: `update orders o set updated_at = $4, booker = coalesce(nullif(concat_ws(' ', u.firstname, u.lastname), ''), u.email),
      (${toAddress('invoice')}) = (select ${toAddress('a.invoice')} from (values
        (1, ${toAddress('o.invoice')}), (2, ${toAddress('u.invoice')}), (3, ${toAddress('u.home')})
      ) a (n, ${toAddress('invoice')}) order by concat(${toAddress('a.invoice')}) = '', n limit 1)
    from course_users u where u.provider_id = $1 and u.id = $2 and o.provider_id = $1 and o.id = any($3::bigint[])
      and concat(o.booker) = ''`,
};

/** Keeps the buyer `$5` of the orders `$2` until each of the days `$3`, at `$4`. */
export const keepOrders = {
  name: 'keep_orders',
  text: `update orders o set kept_until = k.until::timestamp at time zone $4,
      kept_user_id = case when o.kept_until is null then $5 else o.kept_user_id end
    from unnest($2::bigint[], $3::text[]) k (id, until) where o.provider_id = $1 and o.id = k.id
      and o.kept_until is distinct from k.until::timestamp at time zone $4`,
};

const columns = markedColumns(orders, 'personal');
const listColumns = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
const isOwn = (text: string) => `${foldedSql(text)} = any(own.texts)`;
/** Without what is of the person. */
const toCleared = (column: string) => {
  if (column === 'custom_properties')
    return `o.${column} - array(select key from jsonb_each_text(o.${column}) where ${isOwn('value')})`;
  const isAddress = addressFields.some((field) => column === `invoice_${field}`);
  return `case when ${isAddress ? `${toLines('o.invoice')} = any(own.addresses)` : isOwn(`o.${column}`)} then null else o.${column} end`;
};

/** Of the orders `$3` of which another person pays next: clears the texts that are names, phones or addresses of the person. */
export const clearShared = {
  name: 'erase_shared_orders',
  text: `with own as (
      select array[${[
        `concat_ws(' ', firstname, lastname)`,
        'email',
        'phone',
        'home_phone',
        'work_phone',
        'invoice_phone',
      ]
        .map(foldedSql)
        .join(', ')}] as texts, array[${toLines('invoice')}, ${toLines('home')}] as addresses
      from course_users where provider_id = $1 and id = $2),
    changed as (
      select o.id, ${columns.map((column) => `${toCleared(column)} as ${column}`).join(', ')}
      from orders o cross join own where o.provider_id = $1 and o.id = any($3::bigint[])),
    phones as (
      update bookings b set booker_phone = null, updated_at = $4 from own
      where b.provider_id = $1 and b.order_id = any($3::bigint[]) and ${isOwn('b.booker_phone')})
    update orders o set (${columns.join(', ')}) = (${listColumns('c')}), updated_at = $4
    from changed c where o.provider_id = $1 and o.id = c.id and (${listColumns('o')}) is distinct from (${listColumns('c')})`,
};
