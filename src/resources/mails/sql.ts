import { isMailOnSql } from '../../core/reference/mail-kinds.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';
import { wasToldSql } from './loaders.ts';

/** An offer that waits is not sent once it has ended; the deregistration after the second one is told all the same. */
const isValid = `(told.sent_at is not null or told.purpose <> 'offer' or m.purpose = 'deregistration')`;

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
      or m."isFollowUp" and ${wasToldSql(`participant_id = m."participantId" and told.user_id = m.user_id and ${isValid}`)}
    order by m.place`,
};

export const findSwitch = { name: 'find_mail_switch', text: `select ${isMailOnSql('$1', '$2')} as "isOn"` };
