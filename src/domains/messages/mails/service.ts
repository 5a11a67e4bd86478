import { eq } from 'drizzle-orm';
import { itemAt, Problem } from '../../../core/errors.ts';
import { keysOf } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { mailList } from './list.ts';
import { liftRefusals, referenceColumns, resendFacts } from './sql.ts';
import type { Mail } from './schema.ts';

export const getMail = async (ctx: Ctx, id: number): Promise<Mail> =>
  Problem.assertFound(await mailList.byId(ctx, id), 'Mail');

const copied = { purpose: outbox.purpose, ...referenceColumns, endsPlace: outbox.endsPlace, before: outbox.before };

/** Queues a mail with the same purpose and references, composed anew. A refused address is tried again. */
export const resendMail = (ctx: Ctx, id: number): Promise<Mail> =>
  ctx.write(['people'], async ({ tx, now }) => {
    const { providerId } = ctx;
    const isMail = tenantWhere(ctx, outbox, eq(outbox.id, id));
    const [found] = await tx.select({ mail: copied, facts: resendFacts }).from(outbox).where(isMail);
    const { mail, facts } = Problem.assertFound(found, 'Mail');
    assertResendable(facts);
    const copy = { ...mail, providerId, createdAt: now, dueAt: currentTime };
    const created = await tx.insert(outbox).values(copy).returning({ id: outbox.id });
    const mailId = tx.auditItem(itemAt(created).id);
    await liftRefusals(tx, { providerId, mailId, now });
    return getMail({ ...ctx, db: tx }, mailId);
  });

type Facts = Record<keyof typeof resendFacts, boolean>;
const refusals: Record<keyof Facts, string> = {
  isWaiting: 'The mail is not sent yet',
  hasEqualWaiting: 'An equal mail is not sent yet',
  hasEqualSent: 'An equal mail was sent less than 5 minutes ago',
};

function assertResendable(facts: Facts) {
  const reason = keysOf(refusals).find((one) => facts[one]);
  if (reason === undefined) return;
  throw Problem.coded(reason === 'hasEqualSent' ? 'mail_sent_recently' : 'mail_not_sent', refusals[reason]);
}
