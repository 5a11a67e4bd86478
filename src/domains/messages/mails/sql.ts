import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { wasSent, wasToldSql } from './loaders.ts';

/**
 * Of the mails that wait, an offer is dropped once it has ended, and others once the person has left. The deregistration
 * after an offer is sent all the same.
 */
const countsAsTold = `(${wasSent} or (told.purpose = 'offer') = (m.purpose = 'deregistration'))`;

/** Mails without a kind are sent by all schools, and those that follow others to whom the others went. */
export const queueMails = {
  name: 'queue_mails',
  text: `insert into outbox (provider_id, purpose, user_id, participant_id, booking_id, course_date_id, ends_place,
      created_at, due_at)
    select $1, m.purpose, m.user_id, m."participantId", m."bookingId", m."courseDateId", m."endsPlace", $2, ${currentTimeSql}
    from (
        select r.*, coalesce(r."userId", case when r."bookingId" is null then (
          select p.user_id from participants p where p.provider_id = $1 and p.id = r."participantId") end) as user_id
        from json_to_recordset($3) r (place int, purpose text, kind text, "userId" bigint, "participantId" bigint,
          "bookingId" bigint, "courseDateId" bigint, "endsPlace" boolean, "isFollowUp" boolean)) m
    where m.kind is null or ${isMailOnSql('$1', 'm.kind')}
      or m."isFollowUp" and ${wasToldSql(`participant_id = m."participantId" and told.user_id = m.user_id and ${countsAsTold}`)}
    order by m.place`,
};

export const findSwitch = { name: 'find_mail_switch', text: `select ${isMailOnSql('$1', '$2')} as "isOn"` };
