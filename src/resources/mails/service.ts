import { Problem } from '../../core/errors.ts';
import type { Ctx } from '../../database/context.ts';
import { execute } from '../../database/statements.ts';
import { mailList } from './list.ts';
import * as sql from './resend-sql.ts';
import type { Mail } from './schema.ts';

export const getMail = async (ctx: Ctx, id: number): Promise<Mail> =>
  Problem.assertFound(await mailList.byId(ctx, id), 'Mail');

/** Queues a mail with the same purpose and references, which is composed anew; its address is tried again if it was refused. */
export const resendMail = (ctx: Ctx, id: number): Promise<Mail> =>
  ctx.write(['people'], async (tx, now) => {
    const { providerId } = ctx;
    const [found] = await execute<{ isWaiting: boolean; hasEqual: boolean }>(tx, sql.findWaiting, [providerId, id]);
    const { isWaiting, hasEqual } = Problem.assertFound(found, 'Mail');
    if (isWaiting) throw notSent();
    if (hasEqual) throw equalNotSent();
    const [copied] = await execute<{ id: number }>(tx, sql.copyMail, [providerId, id, now]);
    const mail = await getMail({ ...ctx, db: tx }, tx.recordAffected(Problem.assertFound(copied, 'Mail').id));
    if (mail.recipient !== null) await execute(tx, sql.liftRefusal, [providerId, mail.recipient, now]);
    return mail;
  });

function notSent() {
  const message = 'The mail is not sent yet';
  return new Problem('invalid', message, { errors: [{ code: 'mail_not_sent', message }] });
}

function equalNotSent() {
  const message = 'An equal mail is not sent yet';
  return new Problem('invalid', message, { errors: [{ code: 'mail_not_sent', message }] });
}
