import { toMinorUnits } from '../../../core/money.ts';
import { Problem } from '../../../core/errors.ts';
import { hasLeft } from '../../../core/reference/statuses.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { deregisterWithMails } from '../participant-changes/deregistration-service.ts';
import { getOrder } from '../../orders/orders/service.ts';
import type { CreditBody } from './body-schema.ts';
import { creditPlaces, findCreditableOrders } from '../../orders/credits/place-service.ts';
import { readResultingOrders, brokenRule, creditOrder, type Credited } from '../../orders/credits/service.ts';

export async function createCredit(ctx: Ctx, orderId: number, body: CreditBody) {
  const { lines, fee = 0, deregister = false, dry_run = false, reason } = body;
  const request = {
    lines: lines?.map(({ line_id, quantity, amount, participants }) => ({
      ...{ lineId: line_id, quantity, participantIds: participants },
      amount: amount === undefined ? undefined : toMinorUnits(amount.toFixed(2)),
    })),
    ...{ fee: toMinorUnits(fee.toFixed(2)), reason },
  };
  const both = lines?.findIndex(({ quantity, amount }) => quantity !== undefined && amount !== undefined) ?? -1;
  if (both >= 0) throw brokenRule(`lines[${both}].amount`, 'amount_with_quantity');
  return ctx.write(['dates', 'people', 'money'], async (w) => {
    const { id, creditedLines } = await creditOrder(w, orderId, request);
    const departed = deregister ? await deregisterCredited(w, creditedLines, fee > 0) : [];
    const others = await creditDifferences(w, orderId, departed, reason);
    const reader = { ...ctx, db: w.tx };
    if (dry_run) return w.tx.rollBack({ dry_run, orders: await readResultingOrders(reader, [id, ...others], dry_run) });
    return getOrder(reader, w.tx.auditItem(id), { include: ['credit'] });
  });
}

/** Credits what moves of those who leave have cost more than the order; returns the ids of the credits. */
async function creditDifferences(w: WriteCtx, id: number, leaving: number[], reason?: string) {
  const credits: number[] = [];
  for (const order of await findCreditableOrders(w, { leaving }))
    if (order.lines[0]?.firstOrderId === id) credits.push(...(await creditPlaces(w, { leaving }, order, reason)));
  return credits;
}

/** Deregisters and tells those of the lines, or those named. Throws if fewer items are credited than have not left. */
async function deregisterCredited(w: WriteCtx, credited: Credited[], withFee: boolean) {
  const chosen = credited.flatMap(({ shares, part: { quantity, participantIds } }) => {
    const staying = shares.filter(({ statusId }) => !hasLeft(statusId));
    if (participantIds !== undefined) return staying.filter(({ id }) => participantIds.includes(id));
    if (quantity !== undefined && quantity < staying.length) throw mustNameParticipants();
    return staying;
  });
  const unique = new Map(chosen.map((one) => [one.id, one]));
  const departed = await deregisterWithMails(w, [...unique.values()], { withFee, isFollowUp: true });
  return departed.map(({ id }) => id);
}

const mustNameParticipants = () =>
  Problem.coded(
    'quantity_too_small',
    'Fewer items are credited than have participants: name who leaves in participants of the line',
    { notValid: ['deregister'] },
  );
