import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import { getRoute } from '../../../http/route-name.ts';
import { verifyCredentials, type Verified } from '../../../domains/school/auth/sign-on-service.ts';
import { readField } from '../forms.ts';
import { fillCount } from '../fill.ts';

type Refused = { status: number; error: string };

/** Checks the field `old`. Counts as a sign-on attempt, against guessing at an unattended browser. */
export async function verifyOldPassword(request: FastifyRequest, reply: FastifyReply): Promise<Verified | Refused> {
  const { ctx, userId, view } = request.visitor;
  const { texts, person } = view;
  const credentials = { username: person.username, password: readField(request, 'old') ?? '' };
  const caller = { actor: 'course_user', actorId: userId, action: getRoute(request) } as const;
  try {
    return (await verifyCredentials(ctx, credentials, caller)) ?? { status: 400, error: texts.wrongPassword };
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'too_many_requests') throw error;
    reply.header('retry-after', error.retryAfter);
    return { status: 429, error: fillCount(texts.tooManyTries, Math.ceil(error.retryAfter! / 60)) };
  }
}
