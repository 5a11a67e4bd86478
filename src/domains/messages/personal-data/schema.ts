import { bookingLinks, calendarFeeds } from '../../../database/tables/access.ts';
import { catalogPosts, recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { outbox, refusedAddresses } from '../../../database/tables/outbox.ts';
import * as p from '../../../lists/personal-data.ts';

const interest = p.list('id', 'course_interests', p.isInterest('x'));
const refusedAddress = p.list('id', 'refused_addresses', p.isOwnEmail(caseFoldedSql('x.email')));
/** The mails to the person, and notices that named the person. Mails to others who have had the place are theirs. */
export const isMail = `user_id = :userId or named_user_id = :userId or booking_id = ${p.ofOrders('bookings')}
  or ${p.isPlace} and num_nonnulls(user_id, named_user_id, booking_id) = 0
  or ${p.isOwnEmail(caseFoldedSql('address'), `interest_id = ${interest}`)} or refused_address_id = ${refusedAddress}`;
/** The links to offers of the person, and to bookings that the person has paid. */
const isLink = `${p.isPlace} or booking_id = ${p.ofOrders('bookings')} and participant_id is null`;
/** The posts of the catalog's form: the person is on the booking, or was mailed about it. */
const isPost = `booking_id = ${p.ofOrders('bookings')} or booking_id = ${p.ofPlaces('booking_id')}
  or recipients @> array[${p.ofUser(recipientHashSql('u.provider_id', 'u.email'))}] and not :isShared`;

/** Links stand before mails, whose keys they have. */
export const ofMessages = {
  booking_links: p.entry(bookingLinks, `${isLink} or mail_id = any(:mails::bigint[])`, {
    ...{ ...p.deleted, count: ['links'] },
    show: ['ExportedBookingLink', { without: 'hash earlierHashes', order: 'createdAt hash', find: isLink }],
  }),
  calendar_feeds: p.entry(calendarFeeds, p.isOfPerson, {
    ...{ ...p.ended, count: ['links'] },
    show: ['ExportedCalendarFeed', { without: 'hash userId', order: 'createdAt' }],
  }),
  mails: p.entry(outbox, 'id = any(:mails::bigint[])', {
    ...{ ...p.deleted, merge: ['userId', 'namedUserId'] },
    // `before` is of the date, not of the person.
    show: ['ExportedMail', { without: 'userId namedUserId adminUserId webhookId failure before' }],
  }),
  refused_addresses: p.entry(refusedAddresses, p.isOwnEmail(caseFoldedSql('email')), {
    ...{ ...p.deleted, show: ['ExportedRefusedAddress'] },
  }),
  catalog_posts: p.entry(catalogPosts, isPost, p.deleted),
};
