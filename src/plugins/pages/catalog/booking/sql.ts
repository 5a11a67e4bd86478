import { currentTimeSql } from '../../../../database/tables/columns.ts';
import { recipientHashSql } from '../../../../database/tables/catalog-posts.ts';

const ofLastDay = `p.created_at > ${currentTimeSql} - interval '24 hours'`;

/** The booking of a key ($2). The receipt goes to its booker first. */
export const findPost = {
  name: 'find_catalog_post',
  text: `select p.booking_id as "bookingId", ${ofLastDay} as "isOpen", p.fingerprint,
      case when p.recipients @> array[${recipientHashSql('p.provider_id', 'b.booker_email')}]
        then b.booker_email end as "mailedTo"
    from catalog_posts p join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id
    where p.provider_id = $1 and p.key_hash = $2`,
};
export type PostFound = { bookingId: number; isOpen: boolean; fingerprint: string | null; mailedTo: string | null };

/** The link that a form's key gave ($2: its hash), which remains longer than its record. */
export const findFormLink = {
  name: 'find_form_link',
  text: 'select true as found from booking_links where provider_id = $1 and hash = $2',
};

/** Counts the posts of an address ($2), and its places that nobody has paid for, those of free courses too. */
export const countPosts = {
  name: 'count_catalog_posts',
  text: `select
      (select count(*)::int from catalog_posts p where p.provider_id = $1 and p.address_hash = $2
        and p.created_at > ${currentTimeSql} - interval '1 hour') as posts,
      (select coalesce(sum(p.places), 0)::int from catalog_posts p
          join bookings b on b.provider_id = $1 and b.id = p.booking_id
          left join orders o on o.provider_id = $1 and o.id = b.order_id and o.is_paid
            and o.total_before_discounts - o.total_discounts + o.total_vat > 0
        where p.provider_id = $1 and p.address_hash = $2 and o.id is null and ${ofLastDay}) as "unpaidPlaces"`,
};
export type PostCounts = { posts: number; unpaidPlaces: number };

/** `$6` is the JSON list of the recipients, one for each mail. */
export const storePost = {
  name: 'store_catalog_post',
  text: `insert into catalog_posts (provider_id, key_hash, booking_id, address_hash, places, recipients, fingerprint, created_at)
    select $1, $2, $3, $4, $5, array(select ${recipientHashSql('$1', 'email')} from json_array_elements_text($6) email),
      $7, ${currentTimeSql}`,
};

/** The participants of a booking with their dates. */
export const listPlaces = {
  name: 'list_places_of_post',
  text: `select concat_ws(' ', u.firstname, u.lastname) as name, p.status_id as "statusId",
      d.status_id as "dateStatusId", coalesce(nullif(d.title, ''), c.title) as title, d.start_at::text as "startAt",
      d.end_at::text as "endAt", d.start_time_at::text as "startTimeAt", d.end_time_at::text as "endTimeAt", d.zone
    from participants p
      join course_users u on u.provider_id = $1 and u.id = p.user_id
      join course_dates d on d.provider_id = $1 and d.id = p.course_date_id
      join courses c on c.provider_id = $1 and c.id = d.course_id
    where p.provider_id = $1 and p.booking_id = $2 order by p.id limit 100`,
};
