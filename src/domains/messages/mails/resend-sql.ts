import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { joinedRecipient, recipientJoins } from './loaders.ts';

/** The columns in which mails of one purpose are equal. */
export const references =
  'user_id, admin_user_id, booking_id, address, participant_id, webhook_id, course_date_id, refused_address_id, interest_id';
const toReferences = (mail: string) => `(${references.replaceAll(/\w+/g, (name) => `${mail}.${name}`)})`;
const isWaiting = (mail: string) => `${mail}.sent_at is null and ${mail}.failed_at is null`;
const hasEqual = (condition: string) => `exists (
      select from outbox w where w.provider_id = o.provider_id and ${condition} and w.purpose = o.purpose
        and row${toReferences('w')} is not distinct from row${toReferences('o')})`;

/** Whether the mail `$2` waits, and whether one with the same purpose and references waits or was just sent. */
export const findMailToResend = {
  name: 'find_mail_to_resend',
  text: `select ${isWaiting('o')} as "isWaiting", ${hasEqual(isWaiting('w'))} as "hasEqualWaiting",
      ${hasEqual(`w.sent_at > ${currentTimeSql} - interval '5 minutes'`)} as "hasEqualSent"
    from outbox o where o.provider_id = $1 and o.id = $2`,
};

export const copyMail = {
  name: 'copy_mail',
  text: `insert into outbox (provider_id, purpose, ${references}, ends_place, before, created_at, due_at)
    select provider_id, purpose, ${references}, ends_place, before, $3, ${currentTimeSql} from outbox where provider_id = $1 and id = $2
    returning id`,
};

/** Mails to the recipients of the mails `$2` are tried again. */
export const liftRefusals = {
  name: 'lift_refused_addresses',
  text: `update refused_addresses set lifted_at = $3
    where provider_id = $1 and lifted_at is null and ${caseFoldedSql('email')} in (
      select ${caseFoldedSql(joinedRecipient)} from outbox o
      ${recipientJoins}
      where o.provider_id = $1 and o.id = any($2::bigint[]))`,
};
