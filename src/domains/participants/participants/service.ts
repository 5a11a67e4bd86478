import { eq } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { participants } from '../../../database/tables/participants.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { participantList } from './list.ts';

/** One participant, deregistered and archived ones too. */
export const getParticipant = async (
  ctx: Ctx,
  id: number,
  query: Parameters<typeof participantList.byId>[2] = {},
  isAfterWrite = false,
) => Problem.assertFound(await participantList.byId(ctx, id, query, { isAfterWrite }), 'Participant');

/** The row of a participant; throws if there is none. */
export async function findParticipant(w: WriteCtx, id: number) {
  const participant = tenantWhere(w, participants, eq(participants.id, id));
  const [row] = await w.tx.select().from(participants).where(participant);
  return Problem.assertFound(row, 'Participant');
}
