import { Problem } from '../../../core/errors.ts';
import type { Ctx } from '../../../database/context.ts';
import { participantList } from './list.ts';

/** One participant, deregistered and archived ones too. */
export const getParticipant = async (
  ctx: Ctx,
  id: number,
  query: Parameters<typeof participantList.byId>[2] = {},
  isAfterWrite = false,
) => Problem.assertFound(await participantList.byId(ctx, id, query, { isAfterWrite }), 'Participant');
