import { participantStatus } from '../../core/reference/statuses.ts';
import { caseFoldedSql } from '../../database/tables/columns.ts';

/** The address of a participant ($2), or the booker's for one without. */
export const findRecipient = {
  name: 'find_recipient_of_cancellation',
  text: `select coalesce(u.email, b.booker_email) as email
    from participants p
      join course_users u on u.provider_id = $1 and u.id = p.user_id
      left join bookings b on b.provider_id = $1 and b.id = p.booking_id
    where p.provider_id = $1 and p.id = $2 and coalesce(u.email, b.booker_email) is not null`,
};

/**
 * The credits of the moment in which the participant $2 left free of charge. `isOwn` is true if the participant pays the
 * booking, and is the only one of it.
 */
export const findCredit = {
  name: 'find_credit_of_left_place',
  text: `select c.currency, sum(c.total_discounts - c.total_before_discounts - c.total_vat)::text as credited,
      coalesce(sum((select -sum(r.amount) from voucher_redemptions r where r.provider_id = $1 and r.order_id = c.id)), 0)::text as returned,
      o.customer_id is null and coalesce(${caseFoldedSql('b.booker_email')} = ${caseFoldedSql('u.email')}, b.booker_email is null)
        and not exists (select from participants q where q.provider_id = $1 and q.booking_id = b.id and q.id <> p.id) as "isOwn"
    from participants p
      join course_users u on u.provider_id = $1 and u.id = p.user_id
      join bookings b on b.provider_id = $1 and b.id = p.booking_id
      join orders o on o.provider_id = $1 and o.id = b.order_id
      join orders f on f.provider_id = $1 and (f.id = o.id or f.first_order_id = o.id)
      join orders c on c.provider_id = $1 and c.first_order_id = f.id and c.kind = 'credit' and c.created_at = p.status_updated_at
    where p.provider_id = $1 and p.id = $2 and p.status_id = ${participantStatus.deregistered}
      and exists (select from order_lines l
        join order_line_participants n on n.provider_id = $1 and n.order_line_id = l.id and n.participant_id = p.id
        where l.provider_id = $1 and l.order_id = c.id)
    group by c.currency, o.customer_id, b.id, b.booker_email, u.email, p.id`,
};
export type CreditFound = { currency: string; credited: string; returned: string; isOwn: boolean };
