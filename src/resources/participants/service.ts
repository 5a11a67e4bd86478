import type { Ctx } from '../../core/context.ts';
import { notFound } from '../../core/problem.ts';
import { participantList } from './query.ts';

/** One participant, deregistered and archived ones too. */
export async function getParticipant(ctx: Ctx, id: number, query: Parameters<typeof participantList.byId>[2] = {}) {
  const participant = await participantList.byId(ctx, id, query);
  if (participant === undefined) throw notFound('Participant');
  return participant;
}
