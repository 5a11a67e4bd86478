import { eq, isNull } from 'drizzle-orm';
import type { Database } from '../../../database/client.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { refusedAddresses } from '../../../database/tables/outbox.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { MailData } from './mail-data.ts';
import { storeRefusal } from './sql.ts';

type Recipient = Pick<MailData, 'providerId' | 'email'>;

/** Answer of the mail server that has refused the recipient; undefined unless one has. */
export async function findRefusal({ unlocked }: Pick<Database, 'unlocked'>, mail: Recipient) {
  const isRecipient = eq(caseFolded(refusedAddresses.email), caseFolded(mail.email));
  const [found] = await unlocked
    .select({ reason: refusedAddresses.reason })
    .from(refusedAddresses)
    .where(tenantWhere(mail, refusedAddresses, isRecipient, isNull(refusedAddresses.liftedAt)));
  return found?.reason;
}

export function refuseAddress(
  database: Pick<Database, 'withAudit'>,
  { id: mailId, providerId, email }: Recipient & Pick<MailData, 'id'>,
  reason: string,
  subject: string,
) {
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'mail delivery' });
  return audited.write([providerId], ['people'], async (tx, now) => {
    const stored = await storeRefusal(tx, { providerId, email, reason, now, subject, mailId });
    if (stored.length === 0) tx.rollbackNoChange();
  });
}
