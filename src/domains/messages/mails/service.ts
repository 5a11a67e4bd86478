import { Problem } from '../../../core/errors.ts';
import type { Ctx } from '../../../database/context.ts';
import { execute } from '../../../database/statements.ts';
import { mailList } from './list.ts';
import * as sql from './sql.ts';
import type { Mail } from './schema.ts';

export const getMail = async (ctx: Ctx, id: number): Promise<Mail> =>
  Problem.assertFound(await mailList.byId(ctx, id), 'Mail');

type Found = { isWaiting: boolean; hasEqualWaiting: boolean; hasEqualSent: boolean };

/** Queues a mail with the same purpose and references, composed anew. A refused address is tried again. */
export const resendMail = (ctx: Ctx, id: number): Promise<Mail> =>
  ctx.write(['people'], async (tx, now) => {
    const { providerId } = ctx;
    const [found] = await execute<Found>(tx, sql.findMailToResend, [providerId, id]);
    assertResendable(Problem.assertFound(found, 'Mail'));
    const [copied] = await execute<{ id: number }>(tx, sql.copyMail, [providerId, id, now]);
    const mailId = tx.recordAffected(copied!.id);
    await execute(tx, sql.liftRefusals, [providerId, [mailId], now]);
    return getMail({ ...ctx, db: tx }, mailId);
  });

const refusals: Record<keyof Found, string> = {
  isWaiting: 'The mail is not sent yet',
  hasEqualWaiting: 'An equal mail is not sent yet',
  hasEqualSent: 'An equal mail was sent less than 5 minutes ago',
};

function assertResendable(found: Found) {
  const reason = (Object.keys(refusals) as (keyof Found)[]).find((one) => found[one]);
  if (reason === undefined) return;
  throw Problem.coded(reason === 'hasEqualSent' ? 'mail_sent_recently' : 'mail_not_sent', refusals[reason]);
}
