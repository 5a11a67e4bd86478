import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { mailNameSql } from '../../../database/tables/outbox.ts';

// `$1` is the provider, `$2` the course user, `$3` the orders that the course user has bought.

const bookingsOfOrders = '(select b.id from bookings b where b.provider_id = $1 and b.order_id = any($3::bigint[]))';
const ownEmail = `(select ${caseFoldedSql('u.email')} from course_users u where u.provider_id = $1 and u.id = $2)`;
const refusedAddress = `(select r.id from refused_addresses r where r.provider_id = $1 and ${caseFoldedSql('r.email')} = ${ownEmail})`;
const ownParticipants = '(select p.id from participants p where p.provider_id = $1 and p.user_id = $2)';
/** Mails to the person, and notices that named the person. Mails to others who have had the place stay. */
export const isMailOfPerson = `provider_id = $1 and (user_id = $2 or named_user_id = $2 or booking_id in ${bookingsOfOrders}
    or participant_id in ${ownParticipants} and num_nonnulls(user_id, named_user_id, booking_id) = 0
    or ${caseFoldedSql('address')} = ${ownEmail} or refused_address_id in ${refusedAddress})`;
export const isLinkOfPerson = `provider_id = $1 and (participant_id in ${ownParticipants}
    or booking_id in ${bookingsOfOrders} and participant_id is null
    or mail_id in (select id from outbox where ${isMailOfPerson}))`;

/** By the address alone: an interest has no person. */
export const isInterestOfPerson = `provider_id = $1 and email = ${ownEmail}`;

export const deleteLinks = {
  name: 'erase_tokens',
  text: `with ended as (delete from booking_links where ${isLinkOfPerson}),
      feed as (delete from calendar_feeds where provider_id = $1 and user_id = $2)
    delete from tokens where provider_id = $1 and user_id = $2`,
};

/** Bookings by the form of the catalog that the person is on, or was mailed about. */
export const deletePosts = {
  name: 'erase_catalog_posts',
  text: `delete from catalog_posts where provider_id = $1 and (booking_id in ${bookingsOfOrders}
      or booking_id in (select p.booking_id from participants p where p.provider_id = $1 and p.user_id = $2)
      or recipients @> array[(select ${recipientHashSql('$1', 'u.email')} from course_users u
        where u.provider_id = $1 and u.id = $2)])`,
};

export const deleteInterests = {
  name: 'erase_course_interests',
  text: `delete from course_interests where ${isInterestOfPerson}`,
};

export const findMails = { name: 'find_mails_of_person', text: `select id from outbox where ${isMailOfPerson}` };

/** Returns the names of the files, also of digests: all notices of one were sent at once, or have the same lease. */
export const deleteMails = {
  name: 'erase_mails',
  text: `with deleted as (delete from outbox where ${isMailOfPerson} returning *)
    select ${mailNameSql('d')} as name from deleted d
    union
    select ${mailNameSql('o')} from deleted d join outbox o on o.provider_id = $1
      and (o.is_written or o.sent_at is null) and coalesce(o.sent_at, o.due_at) = coalesce(d.sent_at, d.due_at)
      and (o.address = d.address or o.admin_user_id = d.admin_user_id)`,
};

/** Once the mails about it are deleted. */
export const deleteRefusedAddress = {
  name: 'erase_refused_address',
  text: `delete from refused_addresses where provider_id = $1 and id in ${refusedAddress}`,
};
