import { recipientSql } from '../../database/tables/catalog-posts.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';

/** The mails of the last 24 hours to the address of a course user ($2). */
export const countRecentMails = {
  name: 'count_recent_mails',
  text: `select count(*)::int as count
    from outbox o
      left join course_users u on u.provider_id = $1 and u.id = o.user_id
      left join bookings b on b.provider_id = $1 and b.id = o.booking_id
    where o.provider_id = $1 and o.created_at > ${currentTimeSql} - interval '24 hours'
      and ${recipientSql('coalesce(u.email, b.booker_email, o.address)')}
        = (select ${recipientSql('c.email')} from course_users c where c.provider_id = $1 and c.id = $2)`,
};
