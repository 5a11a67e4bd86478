import { eq } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { t } from '../../core/schema/types.ts';
import { participants } from '../../database/tables/participants.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { decideStatus, promoteWaitingLists } from '../seats/service.ts';
import type { ParticipantChange } from './body-schema.ts';
import { participantList } from './list.ts';

/** One participant, deregistered and archived ones too. */
export const getParticipant = async (
  ctx: Ctx,
  id: number,
  query: Parameters<typeof participantList.byId>[2] = {},
  isAfterWrite = false,
) => Problem.assertFound(await participantList.byId(ctx, id, query, { isAfterWrite }), 'Participant');

/** A new status that holds a seat follows the rules of booking; a freed seat promotes the waiting list. */
export async function updateParticipant(ctx: Ctx, id: number, body: ParticipantChange) {
  const participant = tenantWhere(ctx, participants, eq(participants.id, id));
  await ctx.write(['dates', 'people'], async (tx, now) => {
    const [row] = await tx.select().from(participants).where(participant);
    if (row === undefined) throw Problem.notFound('Participant');

    const { columns, freesSeat } = await decideStatus(ctx, tx, now, row, body.idStatus ?? row.statusId);
    const changes = {
      paidId: body.idPaid,
      completed: body.completed,
      passed: body.passed,
      noShow: body.no_show,
      customProperties: t.mergeCustomProperties(row.customProperties, body.custom_properties),
      ...columns,
    };
    if ((await tx.updateChanged(participants, participant, changes, now)) === 0) {
      tx.rollbackNoChange();
      return;
    }
    if (freesSeat) await promoteWaitingLists(ctx, tx, now, [row.courseDateId]);
  });
  return getParticipant(ctx, id, {}, true);
}
