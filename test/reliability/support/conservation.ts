import type { Database } from '../../../src/database/client.ts';
import type { MixedSchool } from './mixed-operations.ts';

/**
 * Dates of a school with more people than places, with counters that differ from a recount, or with a free place
 * beside a waiting person who was neither asked nor came just now. One statement, so one snapshot.
 */
const wrongDates = `
  select d.id, d.num_confirmed, d.num_overbooked, d.num_unconfirmed, d.num_waiting, c.*
  from course_dates d cross join lateral (
    select count(*) filter (where status_id = 1) as confirmed, count(*) filter (where status_id = 2) as overbooked,
      count(*) filter (where status_id = 7) as unconfirmed, count(*) filter (where status_id = 3) as waiting,
      count(*) filter (where status_id = 3 and lapsed_offers = 0) as never_asked
    from participants p where p.provider_id = d.provider_id and p.course_date_id = d.id
  ) c
  where d.provider_id = $1 and (
    (d.num_confirmed, d.num_overbooked, d.num_unconfirmed, d.num_waiting) is distinct from
      (c.confirmed, c.overbooked, c.unconfirmed, c.waiting)
    or c.confirmed + c.overbooked + c.unconfirmed > d.capacity_max + d.capacity_overbook
    or d.status_id <> 3 and c.never_asked > 0
      and c.confirmed + c.overbooked + c.unconfirmed < d.capacity_max + d.capacity_overbook
  )`;

/** What is due of each order of a school, and owed of each credit. */
const dues = `
  select o.id::int as id, o.kind, o.first_order_id as first, o.total,
    o.total - o.redeemed - o.paid + case o.kind when 'credit' then o.credit_applied else -o.applied end as due
  from (
    select *, total_before_discounts - total_discounts + total_vat as total,
      (select coalesce(sum(amount), 0) from voucher_redemptions r where r.provider_id = $1 and r.order_id = o.id) as redeemed,
      (select coalesce(sum(amount), 0) from payments p
        where p.provider_id = $1 and p.order_id = o.id and p.reversed_at is null) as paid,
      (select coalesce(sum(credit_applied), 0) from orders c where c.provider_id = $1 and c.first_order_id = o.id) as applied
    from orders o where o.provider_id = $1
  ) o`;

/** Orders with more paid or credited than they cost, and credits that return more than they credit. */
const wrongOrders = `with dues as (${dues})
  select * from dues o where case o.kind when 'credit' then o.due > 0 or o.total > 0 else o.due < 0 end
    or o.kind <> 'credit'
      and o.total + (select coalesce(sum(total), 0) from dues c where c.kind = 'credit' and c.first = o.id) < 0`;

/** Amounts of a school: `spent` is taken from the balances of the vouchers, `redeemed` from the orders. */
const amounts = `with dues as (${dues})
  select coalesce(sum(total), 0)::text as total, coalesce(sum(due), 0)::text as due,
    (select coalesce(sum(amount), 0) from payments where provider_id = $1 and reversed_at is null)::text as paid,
    (select coalesce(sum(amount), 0) from voucher_redemptions where provider_id = $1)::text as redeemed,
    (select coalesce(sum(amount - balance), 0) from vouchers where provider_id = $1)::text as spent,
    (coalesce(sum(total - due), 0) - (select coalesce(sum(amount), 0) from payments
      where provider_id = $1 and reversed_at is null)
      - (select coalesce(sum(amount - balance), 0) from vouchers where provider_id = $1))::float as difference
  from dues`;
type Amounts = { total: string; due: string; paid: string; redeemed: string; spent: string; difference: number };

/**
 * Mails of a participant, and the changes that they tell of. An outdated mail is dropped before it is sent; of a swap
 * both persons are told, and the new one of an open offer.
 */
const toldTwice = `
  select participant_id, purpose, count(*)::int as mails, (
      select coalesce(sum(case e.change when 'swapped' then case o.purpose when 'swap' then 2 else 1 end else 1 end), 0)::int
      from events e where e.provider_id = $1 and e.resource_id = o.participant_id and
        case o.purpose when 'offer' then e.resource = 'offer' and e.change = 'made' or e.change = 'swapped'
          when 'swap' then e.change = 'swapped' else e.change = 'moved' end
    ) as changes
  from outbox o where o.provider_id = $1 and o.purpose in ('offer', 'swap', 'move', 'moved_away') group by 1, 2`;
/** Mails to one person about the same change. */
const sentTwice = `select participant_id, user_id, booking_id, purpose, created_at, count(*)::int as mails from outbox
  where provider_id = $1 group by 1, 2, 3, 4, 5 having count(*) > 1`;

/** Offers that were made while one of the same person was open, and ends of none. A move ends one. */
const doubleOffers = `
  select * from (
    select resource_id, change, lag(change) over (partition by resource_id order by id) as before
    from events where provider_id = $1 and (resource = 'offer' or change = 'moved')
  ) e where case change when 'made' then before = 'made' when 'moved' then false else before is distinct from 'made' end`;

type Connection = Database['pool'];
export type Faults = Record<string, unknown[]>;

/** The rows of a school that break a rule which holds at every moment. */
export async function findWrongRows(connection: Connection, { id }: { id: number }): Promise<Faults> {
  const rows = async (text: string) => (await connection.query(text, [id])).rows as unknown[];
  return { dates: await rows(wrongDates), orders: await rows(wrongOrders) };
}

/** Everything that is wrong after the last operation, by its kind. */
export async function findFaults(connection: Connection, school: MixedSchool): Promise<Faults> {
  const rows = async <Row>(text: string) => (await connection.query(text, [school.id])).rows as Row[];
  const [sum] = await rows<Amounts>(amounts);
  const told = await rows<{ mails: number; changes: number }>(toldTwice);
  const stored = await rows<{ id: number; amount: number; isReversed: boolean }>(
    `select id::int, amount::float, reversed_at is not null as "isReversed" from payments where provider_id = $1`,
  );
  const byId = new Map(stored.map((payment) => [payment.id, payment]));
  const isLost = ({ id, amount, isReversed }: MixedSchool['payments'][number]) =>
    byId.get(id)?.amount !== amount || (isReversed && !byId.get(id)!.isReversed);
  return {
    ...(await findWrongRows(connection, school)),
    amounts: sum!.difference === 0 && sum!.redeemed === sum!.spent ? [] : [sum],
    'lost payments': school.payments.filter(isLost),
    'doubled payments': stored.length > school.payments.length ? [stored.length, school.payments.length] : [],
    'people told twice': told.filter(({ mails, changes }) => mails > changes),
    'mails sent twice': await rows(sentTwice),
    'offers made twice': await rows(doubleOffers),
  };
}

/** Orders of which something is due or owed. */
export async function findOpenOrders(connection: Connection, { id }: { id: number }) {
  const { rows } = await connection.query<{ id: number; due: number }>(
    `select id, due::float as due from (${dues}) o where due <> 0`,
    [id],
  );
  return rows;
}
