import { hashSecret, newSecret } from '../../../core/secrets.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { execute } from '../../../database/statements.ts';
import * as sql from './sql.ts';

type School = Pick<Ctx, 'providerId'>;
type Decision = { isSent: boolean };

/**
 * True for each address that gets a mail which a form, the naming of a place or a link of a booking causes: each
 * recipient up to the limit of the day. The caller stores them.
 */
export async function decideFormMails({ providerId }: School, tx: Tx, emails: string[]): Promise<boolean[]> {
  const found = await execute<Decision>(tx, sql.decideFormMails, [providerId, JSON.stringify(emails)]);
  return found.map(({ isSent }) => isSent);
}

/** As `decideFormMails`, for one mail, which is stored if it is sent. */
export async function reserveFormMail({ providerId }: School, tx: Tx, email: string): Promise<boolean> {
  const values = [providerId, JSON.stringify([email]), hashSecret(newSecret())];
  const [found] = await execute<Decision>(tx, sql.reserveFormMail, values);
  return found!.isSent;
}
