import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import type { Database } from '../../../database/client.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { refusalEmailsSql } from '../../../domains/messages/mails/loaders.ts';
import type { MailData } from './mail-data.ts';

/** A mail server has refused the address for good, and the mark is not lifted. */
const findReason = {
  name: 'find_refused_address',
  text: `select reason from refused_addresses where provider_id = $1 and ${caseFoldedSql('email')} = ${caseFoldedSql('$2')}
    and lifted_at is null`,
};

/**
 * Stores a refused address, or marks it again where the mark is lifted. Queues the mail to the school then, and again
 * the refused mail `$6` to the school itself, if the school has another address.
 */
const storeRefusal = {
  name: 'store_refused_address',
  text: `with refused as (
      insert into refused_addresses as r (provider_id, email, reason, refused_at, subject) values ($1, $2, $3, $4, $5)
      on conflict (provider_id, (${caseFoldedSql('email')})) do update set email = excluded.email,
        reason = excluded.reason, refused_at = excluded.refused_at, subject = excluded.subject, lifted_at = null
        where r.lifted_at is not null
      returning id),
    notice as (
      insert into outbox (provider_id, purpose, refused_address_id, created_at, due_at)
      select $1, 'address_refused', r.id, $4, ${currentTimeSql}
      from (select id from refused
          union select refused_address_id from outbox where provider_id = $1 and id = $6 and refused_address_id is not null) r (id)
        join providers s on s.id = $1
      where exists (select from ${refusalEmailsSql('s')} e where ${caseFoldedSql('e.address')} <> ${caseFoldedSql('$2')})
        and ${isMailOnSql('$1', "'address_refused'")}
      order by r.id
      returning id)
    select id from refused union all select id from notice`,
};

type Recipient = Pick<MailData, 'providerId' | 'email'>;

/** Answer of the mail server that has refused the recipient; undefined unless one has. */
export async function findRefusal(on: Queryable, { providerId, email }: Recipient) {
  const [found] = await execute<{ reason: string }>(on, findReason, [providerId, email]);
  return found?.reason;
}

export function refuseAddress(
  database: Pick<Database, 'withAudit'>,
  { id, providerId, email }: Recipient & Pick<MailData, 'id'>,
  reason: string,
  subject: string,
) {
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'mail delivery' });
  return audited.write([providerId], ['people'], async (tx, now) => {
    const stored = await execute(tx, storeRefusal, [providerId, email, reason, now, subject, id]);
    if (stored.length === 0) tx.rollbackNoChange();
  });
}
