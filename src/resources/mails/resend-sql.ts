import { caseFoldedSql, currentTimeSql } from '../../database/tables/columns.ts';

const references =
  'user_id, admin_user_id, booking_id, address, participant_id, webhook_id, course_date_id, refused_address_id';
const referencesOf = (mail: string) => `(${references.replaceAll(/\w+/g, (name) => `${mail}.${name}`)})`;
const isWaiting = (mail: string) => `${mail}.sent_at is null and ${mail}.failed_at is null`;

/** Whether the mail `$2` waits, and whether one with the same purpose and references does. */
export const findWaiting = {
  name: 'find_mail_to_resend',
  text: `select ${isWaiting('o')} as "isWaiting", exists (
      select from outbox w where w.provider_id = o.provider_id and ${isWaiting('w')} and w.purpose = o.purpose
        and row${referencesOf('w')} is not distinct from row${referencesOf('o')}) as "hasEqual"
    from outbox o where o.provider_id = $1 and o.id = $2`,
};

export const copyMail = {
  name: 'copy_mail',
  text: `insert into outbox (provider_id, purpose, ${references}, ends_place, created_at, due_at)
    select provider_id, purpose, ${references}, ends_place, $3, ${currentTimeSql} from outbox where provider_id = $1 and id = $2
    returning id`,
};

/** Mails to a refused address are tried again. */
export const liftRefusal = {
  name: 'lift_refused_address',
  text: `update refused_addresses set lifted_at = $3
    where provider_id = $1 and ${caseFoldedSql('email')} = ${caseFoldedSql('$2')} and lifted_at is null`,
};
