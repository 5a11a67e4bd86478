import { toMinorUnits, type Minor } from '../../../core/money.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import * as sql from './self-cancellation-sql.ts';

export type PlaceCredit = { credited: Minor; returned: Minor; currency: string; isOwn: boolean };

/** The amount credited when a participant left, and its part that went back to vouchers; undefined without a credit. */
export async function loadCredit(on: Queryable, providerId: number, participantId: number) {
  const [found] = await execute<sql.CreditFound>(on, sql.findCredit, [providerId, participantId]);
  const credit = found && { ...found, credited: toMinorUnits(found.credited), returned: toMinorUnits(found.returned) };
  return credit satisfies PlaceCredit | undefined;
}
