import { isMailOnSql } from '../../core/reference/mail-kinds.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';

/** Mails without a kind are sent by all schools. */
export const queueMails = {
  name: 'queue_mails',
  text: `insert into outbox (provider_id, purpose, user_id, participant_id, booking_id, course_date_id, ends_place,
      created_at, due_at)
    select $1, m.purpose, m."userId", m."participantId", m."bookingId", m."courseDateId", m."endsPlace", $2, ${currentTimeSql}
    from json_to_recordset($3) m (place int, purpose text, kind text, "userId" bigint, "participantId" bigint,
      "bookingId" bigint, "courseDateId" bigint, "endsPlace" boolean)
    where m.kind is null or ${isMailOnSql('$1', 'm.kind')}
    order by m.place`,
};

export const findSwitch = { name: 'find_mail_switch', text: `select ${isMailOnSql('$1', '$2')} as "isOn"` };
