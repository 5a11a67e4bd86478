import { caseFoldedSql, foldedSql } from '../../../database/tables/columns.ts';
import { aboutItem } from '../../../database/tables/idempotency.ts';
import { mailNameSql } from '../../../database/tables/outbox.ts';
import { json, statement } from '../../../database/statement.ts';
import { payingParticipant } from '../../orders/orders/loaders.ts';

// Decisions over several tables, rows of a list beside the backups, and searches of texts.

/** The first day on which an order's buyer is not needed any more; `years` are those after that of the invoice. */
const kept = `make_date(
    extract(year from greatest(o.exported_at, o.invoiced_at) at time zone :timezone)::int + 1 + :years::int, 1, 1
  )::timestamp at time zone :timezone`;

const takes = {
  providerId: 'int',
  email: 'text?',
  name: 'text?',
  isErased: 'bool',
  /** Another person of the school has the e-mail. */
  isShared: 'bool',
  timezone: 'text',
  years: 'int',
} as const;
const returns = { id: 'int', isOwn: 'bool', isKept: 'bool?', until: 'text?' } as const;
const [email, name] = [caseFoldedSql(':email::text'), foldedSql(':name::text')];

/** An e-mail proves a person together with the name, or alone if no other person has it. */
const isNamed = (address: string, title: string) =>
  `(${caseFoldedSql(address)} = ${email} and (not :isShared or ${foldedSql(title)} = ${name}))`;

/** Once the person is erased, nothing else names its customer. */
const isCustomer = `(coalesce(${isNamed('c.email', 'c.title')} or ${foldedSql('c.title')} = ${name}, false)
      or :isErased and (c.kept_until is not null or c.title = 'Erased'))`;

/** The e-mail or the name of the booker is that of somebody else; without a name, the e-mail of a course user. */
const isBookedByOther = `exists (
        select from bookings b where b.provider_id = :providerId and b.order_id = o.id and b.booker_email is not null
          and case when o.booker is null then ${caseFoldedSql('b.booker_email')} is distinct from ${email} and exists (
              select from course_users k where k.provider_id = :providerId and k.id <> :userId and k.erased_at is null
                and ${caseFoldedSql('k.email')} = ${caseFoldedSql('b.booker_email')})
            else ${foldedSql('o.booker')} is distinct from ${name} and not coalesce(${isNamed('b.booker_email', 'o.booker')}, false) end)`;

/** Credits and differences have the buyer of their first order. */
const followingOrders = (first: string) => `
      select o.id, ${kept} as kept, f.is_own, f.is_of_company, f.is_payer, f.is_shared
      from ${first} f join orders o on o.provider_id = :providerId and o.first_order_id = f.id`;

/**
 * The orders of bookings that the person is on, or that name the person as booker or by the e-mail of the invoice. The
 * person is the buyer if these or the name of the booker say so, or of a booking of nobody else that no other customer
 * pays; not if another one has booked. So is the payer that `invoicing` names without a customer, a company and a
 * booker, unless the booking has the e-mail of somebody else; of an invoice always. Without an invoice another person
 * of the order pays next.
 */
export const findOrders = statement(
  'find_orders_of_person',
  {
    takes: { ...takes, userId: 'int' },
    returns: { ...returns, isOfCompany: 'bool', isPayer: 'bool', isShared: 'bool' },
  },
  `with booked as (
      select distinct b.order_id as id from participants p
        join bookings b on b.provider_id = :providerId and b.id = p.booking_id
      where p.provider_id = :providerId and p.user_id = :userId),
    named as (
      select o.id from bookings b join orders o on o.provider_id = :providerId and o.id = b.order_id
      where b.provider_id = :providerId and ${isNamed('b.booker_email', 'o.booker')}
      union select o.id from orders o where o.provider_id = :providerId and ${isNamed('o.invoice_email', 'o.booker')}),
    decided as (
      select o.id, ${kept} as kept, :isErased and o.kept_until is not null and not is_of_other
          or n.id is not null or coalesce(${foldedSql('o.booker')} = ${name}, false)
          or is_buyer and ${kept} > now()
          or (c.id is null or c.type = 2 and ${isCustomer}) and (is_buyer or not has_others) and not is_of_other
          and not ${isBookedByOther} as is_own, coalesce(c.type = 1, false) as is_of_company,
        is_payer, is_buyer and has_others and n.id is null as is_shared
      from (select id from booked union select id from named) found
        join orders o on o.provider_id = :providerId and o.id = found.id
        cross join lateral (select coalesce(o.kept_user_id <> :userId, false) as is_of_other) kept_for
        left join named n on n.id = o.id
        left join customers c on c.provider_id = :providerId and c.id = o.customer_id
        cross join lateral (
          select count(*) > 0 as is_payer, coalesce(bool_or(
              b.booker_email is null or ${caseFoldedSql('b.booker_email')} = ${email}), false) as is_buyer
          from bookings b join participants p on p.provider_id = :providerId and p.id = ${payingParticipant('b', ':providerId')}
          where b.provider_id = :providerId and b.order_id = o.id and p.user_id = :userId
            and c.id is null and concat(o.booker, o.custom_properties->>'company') = '') paid
        cross join lateral (
          select exists (
            select from bookings b join participants p on p.provider_id = :providerId and p.booking_id = b.id
              join course_users u on u.provider_id = :providerId and u.id = p.user_id
            where b.provider_id = :providerId and b.order_id = o.id and u.id <> :userId and u.erased_at is null) as has_others) shared),
    following as (${followingOrders('decided')}),
    later as (${followingOrders('following')})
    select distinct on (id) id, kept > now() as "isKept", to_char(kept at time zone :timezone, 'YYYY-MM-DD') as until,
      is_own as "isOwn", is_of_company as "isOfCompany", is_payer as "isPayer",
      is_shared and coalesce(kept <= now(), true) as "isShared"
    from (table decided union all table following union all table later) all_orders
    order by id, is_own desc`,
);

/** The private customers that employ the person, pay these orders or have the e-mail: those are the person. */
export const findCustomers = statement(
  'find_customers_of_person',
  { takes: { ...takes, customerId: 'int?', orders: 'int[]' }, returns },
  `select c.id, ${isCustomer} as "isOwn", kept.until > now() as "isKept",
      to_char(kept.until at time zone :timezone, 'YYYY-MM-DD') as until
    from customers c cross join lateral (
        select max(${kept}) as until from orders o where o.provider_id = :providerId and o.customer_id = c.id) kept
    where c.provider_id = :providerId and c.type = 2 and c.id in (
      select :customerId::bigint
      union select o.customer_id from orders o where o.provider_id = :providerId and o.id in :orders
      union select c.id from customers c where c.provider_id = :providerId and ${isNamed('c.email', 'c.title')})
    order by c.id`,
);

/** Folds the searched texts, all as one, and adds the bookings of the orders. */
const searched = `with own as (
      select ${caseFoldedSql('(:searched::json)::text')}::jsonb || jsonb_build_object('bookings', (
        select coalesce(jsonb_agg(b.id order by b.id), '[]') from bookings b
        where b.provider_id = :providerId and b.order_id in :orders)) as searched)`;
const isAnswerAbout = `jsonb_path_exists(${caseFoldedSql('r.answer::text')}::jsonb, '${aboutItem('courseuser')}
        || @.booking_id == $bookings[*] || @.order_id == $orders[*] || @.id == $orders[*] && exists(@.booker)
        || @ == $whole[*] || @.firstname == $first[*] && @.lastname == $last[*])', own.searched)`;
/** The ids and texts that answers about a person have: the e-mail and the names as whole texts. */
type Searched = { id: number; orders: number[] } & Record<'whole' | 'first' | 'last', string[]>;
const takesSearched = { providerId: 'int', searched: json<Searched>(), orders: 'int[]' } as const;
export const findAnswers = statement(
  'find_answers_about_erased',
  { takes: takesSearched, returns: { before: 'text', keys: json<string[]>() } },
  `${searched}
    select own.searched::text as before, to_json(array(select r.key_hash from idempotency_records r
      where r.provider_id = :providerId and r.has_course_user and ${isAnswerAbout})) as keys from own`,
);
/**
 * Empties stored answers about the person or the orders. Their keys stay, so that no repeated request is carried out
 * again. `keys` are the answers up to `since` that a search for `before` has found; other answers are searched.
 */
export const emptyAnswers = statement(
  'erase_answers',
  { takes: { ...takesSearched, before: 'text?', since: 'moment?', keys: 'text[]' } },
  `${searched}
    update idempotency_records r set answer = 'null' from own where r.provider_id = :providerId and r.has_course_user
      and case when own.searched::text is distinct from :before or r.created_at > :since then ${isAnswerAbout}
        else r.key_hash in :keys end`,
);

/** The names of the files of mails, also of digests: all notices of one were sent at once, or have the same lease. */
export const findMailNames = statement(
  'find_mail_names',
  { takes: { providerId: 'int', ids: 'int[]' }, returns: { name: 'text' } },
  `with own as (select * from outbox where provider_id = :providerId and id in :ids)
    select ${mailNameSql('d')} as name from own d
    union
    select ${mailNameSql('o')} from own d join outbox o on o.provider_id = :providerId
      and (o.is_written or o.sent_at is null) and coalesce(o.sent_at, o.due_at) = coalesce(d.sent_at, d.due_at)
      and (o.address = d.address or o.admin_user_id = d.admin_user_id)`,
);

/** The providers with buyers that are kept no longer, without those that are being deleted. */
export const findDue = statement(
  'providers_of_due_erasures',
  { takes: {}, returns: { id: 'int' }, acrossSchools: 'the job erases the buyers of all schools' },
  `select p.provider_id as id from provider_state p
    where exists (select from orders o where o.provider_id = p.provider_id and o.kept_until <= now())
      or exists (select from customers c where c.provider_id = p.provider_id and c.kept_until <= now())
    order by 1`,
);
const findKeptOf = (table: string) =>
  `to_json(array(select id from ${table} where provider_id = :providerId and kept_until <= now() order by kept_until limit 1000))`;
/** Buyers that are kept no longer, and the version of the school. */
export const findKept = statement(
  'find_kept_no_longer',
  {
    takes: { providerId: 'int' },
    returns: { orders: json<number[]>(), customers: json<number[]>(), since: 'text' },
  },
  `select ${findKeptOf('orders')} as orders, ${findKeptOf('customers')} as customers, changed_at::text as since
    from provider_state where provider_id = :providerId`,
);

const takesList = {
  list: { rows: { provider: 'int', user: 'int?', created_at: 'moment', erased_at: 'moment', orders_kept: 'bool?' } },
} as const;
const acrossSchools = 'a list has the erasures of all schools';
/** The persons of a list that are not erased since; those of a provider that is being deleted go with it. */
export const findListed = statement(
  'find_listed_persons',
  { takes: takesList, returns: { providerId: 'int', userId: 'int' }, acrossSchools },
  `select u.provider_id as "providerId", u.id as "userId" from :list
      join course_users u on u.provider_id = list.provider and u.id = list."user" and u.created_at = list.created_at
      join provider_state s on s.provider_id = u.provider_id
    where u.erased_at is null or u.erased_at < list.erased_at group by 1, 2 order by 1, 2`,
);
export const rememberListed = statement(
  'remember_listed_erasures',
  { takes: takesList, acrossSchools },
  `insert into erasures (provider_id, user_id, created_at, erased_at, orders_kept)
    select distinct list.provider, list."user", list.created_at, list.erased_at, coalesce(list.orders_kept, false) from :list
    where not exists (select from erasures e where e.provider_id = list.provider
      and e.user_id is not distinct from list."user" and e.created_at = list.created_at and e.erased_at = list.erased_at)`,
);
