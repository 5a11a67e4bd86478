import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { canceled } from '../../../core/reference/statuses.ts';
import { hasDueOffersSql, openOffersSql } from '../../courses/seats/loaders.ts';
import { isForCourse, isForCustomer, isOpen, isUsedUp } from '../../orders/campaigns/loaders.ts';
import type { CampaignFound, CustomerFound, VoucherFound } from './quote-schema.ts';

const product = `select p.id, p.course_id as "courseId", p.price::text as price, p.currency,
    p.vat_percentage::text as "vatPercentage"
  from products p where p.provider_id = $1 and p.archived_at is null`;

/** Course dates of active courses; neither is deleted. Deadlines follow the real clock. */
const date = `select d.id, d.course_id as "courseId", c.title as "courseTitle", c.price_currency as "courseCurrency",
    d.trigger_value as "triggerValue", d.start_at::text as "startAt", d.end_at::text as "endAt", p.title as place,
    d.status_id = ${canceled} as "isCanceled",
    timezone(d.zone, ${currentTimeSql})::date > d.deadline_at or d.ends_at <= ${currentTimeSql} as "isPassed",
    d.capacity_max as "capacityMax", d.capacity_overbook as "capacityOverbook", d.capacity_wait as "capacityWait",
    d.num_confirmed as "numConfirmed", d.num_overbooked as "numOverbooked", d.num_unconfirmed as "numUnconfirmed",
    d.num_waiting as "numWaiting", ${openOffersSql('d')} as "openOffers", ${hasDueOffersSql('d')} as "hasDueOffers",
    (select s.mails from booking_settings s where s.provider_id = $1) as "mailSwitches",
    (select to_json(m) from (${product} and p.course_id = d.course_id and p.is_main_product) m) as "mainProduct"
  from course_dates d
    join courses c on c.provider_id = $1 and c.id = d.course_id and c.is_active and c.deleted_at is null
    left join places p on p.id = d.place_id
  where d.provider_id = $1 and d.deleted_at is null`;

export const findDate = { name: 'find_date', text: `${date} and d.id = $2` };
/** The children of $2 with one of the trigger values $3, without regard to case. */
export const findChildren = {
  name: 'find_children',
  text: `${date} and d.parent_id = $2 and ${caseFoldedSql('btrim(d.trigger_value)')}
    in (select ${caseFoldedSql('v.value')} from json_array_elements_text($3) v) order by d.id`,
};
export const findProducts = {
  name: 'find_products',
  text: `${product} and p.id in (select json_array_elements_text($2)::bigint)`,
};

const campaign = (isNamed: boolean) => `select c.id, ${isNamed} as "isNamed", c.currency, c.discount_type as type,
    c.discount_value::text as value, coalesce(c.ends_at <= ${currentTimeSql}, false) as "isExpired",
    ${isOpen('c')} as "isOpen", ${isForCourse('$1', 'c', '$2::bigint')} as "forCourse",
    ${isUsedUp('c')} as "isUsedUp", c.max_uses - c.uses as "usesLeft",
    ${isForCustomer('$1', 'c', '$4')} as "forCustomer"
  from campaigns c`;

/** For the course $2: the campaign of a code ($3), the customer $4 with its agreements, and the voucher of a code ($5). */
export const findPayers = {
  name: 'find_payers',
  text: `select
      (select json_agg(c order by c.id) from (
        ${campaign(true)} where c.provider_id = $1 and c.campaign_code is not null and not c.is_archived
          and ${caseFoldedSql('c.campaign_code')} = ${caseFoldedSql('$3')}
        union all
        ${campaign(false)} join campaign_customers a on a.campaign_id = c.id
        where c.provider_id = $1 and a.provider_id = $1 and a.customer_id = $4 and c.type = 'Agreement') c) as campaigns,
      (select to_json(v) from (select v.id, v.code, v.currency, v.balance::text as balance, v.archived_at is not null as "isArchived",
          coalesce(v.expires_at <= ${currentTimeSql}, false) as "isExpired"
        from vouchers v where v.provider_id = $1 and v.deleted_at is null and ${caseFoldedSql('v.code')} = ${caseFoldedSql('$5')}) v) as voucher,
      (select to_json(c) from (select c.id, c.seller_id as "sellerId", c.status = 1 as "isActive"
        from customers c where c.provider_id = $1 and c.id = $4) c) as customer`,
};
export type PayersFound = {
  campaigns: CampaignFound[] | null;
  voucher: VoucherFound | null;
  customer: CustomerFound | null;
};
