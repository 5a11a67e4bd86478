import { eq } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { t } from '../../../core/schema/types.ts';
import { hasLeft, isConfirmed } from '../../../core/reference/statuses.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { participants } from '../../../database/tables/participants.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { queueMails } from '../../messages/mails/queue-service.ts';
import { queueNotices } from '../../messages/notices/service.ts';
import type { ParticipantRow } from '../../participants/participants/schema.ts';
import { getParticipant } from '../../participants/participants/service.ts';
import { endDueHolds, promoteAfterLeaving } from '../seat-assignment/promotion-service.ts';
import { decideStatus } from '../seat-assignment/service.ts';
import { completeSwap, decideSwap } from './swap-service.ts';
import type { ParticipantChange } from './body-schema.ts';

/**
 * A new status that holds a seat follows the rules of booking; a freed seat promotes the waiting list. Another person on
 * the place keeps nothing of the former one. A `user` with its id and names is who has the place, as it was read.
 */
export async function updateParticipant(ctx: Ctx, id: number, body: ParticipantChange) {
  const { id: userId, external_id: externalId } = body.user ?? {};
  const hasOthers = Object.keys(body.user ?? {}).length > 1;
  if (hasOthers && userId === undefined && externalId !== undefined)
    throw new Problem('invalid', 'Field(s) not valid: user. An id or external_id stands alone', { notValid: ['user'] });
  const isRead = hasOthers && userId !== undefined;
  const user = isRead ? undefined : body.user;
  const participant = tenantWhere(ctx, participants, eq(participants.id, id));
  const areas: Areas = user || body.idStatus !== undefined ? ['dates', 'people', 'money'] : ['dates', 'people'];
  await ctx.write(areas, async (tx, now) => {
    const find = async () => (await tx.select().from(participants).where(participant))[0];
    const found = await find();
    if (found === undefined) throw Problem.notFound('Participant');
    if (isRead && userId !== found.userId) throw Problem.invalidFields({ notValid: ['user'] });
    const newStatusId = body.idStatus === found.statusId ? undefined : body.idStatus;
    const isDecided = user !== undefined || newStatusId !== undefined;
    const hasEnded = isDecided && (await endDueHolds(ctx, tx, now, [found.courseDateId], id));
    const row = hasEnded ? (await find())! : found;
    const isToldOfEnd = !hasLeft(found.statusId) && hasLeft(row.statusId);

    const swap = user && (await decideSwap(ctx, tx, now, row, user));
    const before = { ...row, ...swap };
    const { columns, freesPlace, mail } = await decideStatus(ctx, tx, now, before, newStatusId ?? before.statusId);
    const changes = {
      ...swap,
      paidId: body.idPaid,
      completed: body.completed ?? before.completed,
      passed: body.passed ?? before.passed,
      noShow: body.no_show ?? before.noShow,
      userComment: body.user_comment === undefined ? before.userComment : body.user_comment,
      certificateIssuedAt:
        body.certificate_issued_at === undefined ? before.certificateIssuedAt : body.certificate_issued_at,
      customProperties: t.mergeCustomProperties(before.customProperties, body.custom_properties),
      ...columns,
    };
    const setsCompleted = body.completed !== undefined && !(isRead && body.completed === before.completed);
    const isByHand = !before.completedByHand && setsCompleted;
    const changed = await tx.updateChanged(participants, participant, changes, now);
    // Not a change that anybody sees: `updated_at` stays.
    if (isByHand) await tx.update(participants).set({ completedByHand: true }).where(participant);
    if (changed === 0 && !hasEnded) {
      if (!isByHand) tx.rollbackNoChange();
      return;
    }
    if (swap) await completeSwap(ctx, tx, now, row, swap.userId);
    else if (mail && !isToldOfEnd) {
      const endsPlace = isConfirmed(row.statusId);
      await queueMails(ctx, tx, now, [{ purpose: mail, participantId: id, isFollowUp: true, endsPlace }]);
    }
    if (freesPlace) await promoteAfterLeaving(ctx, tx, now, [row]);
    const { statusId = before.statusId }: { statusId?: number } = columns;
    if (statusId !== before.statusId) await notifyOfStatus(ctx, tx, now, before, statusId);
  });
  return getParticipant(ctx, id, {}, true);
}

async function notifyOfStatus(
  ctx: Ctx,
  tx: Tx,
  now: string,
  { id, statusId: before, courseDateId }: ParticipantRow,
  after: number,
) {
  await queueNotices(ctx, tx, now, {
    booked: hasLeft(before) && !hasLeft(after) ? [id] : [],
    canceled: !hasLeft(before) && hasLeft(after) ? [id] : [],
    courseDateIds: [courseDateId],
  });
}
