import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import type { Database } from '../../../database/client.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import type { MailData } from './mail-data.ts';

/** A mail server has refused the address for good, and the mark is not lifted. */
const findReason = {
  name: 'find_refused_address',
  text: `select reason from refused_addresses where provider_id = $1 and ${caseFoldedSql('email')} = ${caseFoldedSql('$2')}
    and lifted_at is null`,
};

/**
 * Stores a refused address, or marks it again where the mark is lifted. Queues the notice to a school with an address then;
 * a refused notice queues none.
 */
const storeRefusal = {
  name: 'store_refused_address',
  text: `with refused as (
      insert into refused_addresses as r (provider_id, email, reason, refused_at, subject) values ($1, $2, $3, $5, $6)
      on conflict (provider_id, (${caseFoldedSql('email')})) do update set email = excluded.email,
        reason = excluded.reason, refused_at = excluded.refused_at, subject = excluded.subject, lifted_at = null
        where r.lifted_at is not null
      returning id),
    notice as (
      insert into outbox (provider_id, purpose, refused_address_id, created_at, due_at)
      select $1, 'address_refused', r.id, $5, ${currentTimeSql} from refused r join providers s on s.id = $1
      where $4 <> 'address_refused' and concat(s.email_booking, s.email, s.email_admin) <> '' and ${isMailOnSql('$1', "'address_refused'")})
    select id from refused`,
};

type Recipient = Pick<MailData, 'providerId' | 'email' | 'purpose'>;

/** Answer of the mail server that has refused the recipient; undefined unless one has. */
export async function findRefusal(on: Queryable, { providerId, email }: Recipient) {
  const [found] = await execute<{ reason: string }>(on, findReason, [providerId, email]);
  return found?.reason;
}

export function refuseAddress(
  database: Pick<Database, 'withAudit'>,
  { providerId, email, purpose }: Recipient,
  reason: string,
  subject: string,
) {
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'mail delivery' });
  return audited.write([providerId], ['people'], async (tx, now) => {
    const stored = await execute(tx, storeRefusal, [providerId, email, reason, purpose, now, subject]);
    if (stored.length === 0) tx.rollbackNoChange();
  });
}
