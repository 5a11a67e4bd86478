import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { getRoute } from '../../../http/route-name.ts';
import { endOtherSessions, listUserSessions } from '../../../domains/school/auth/session-service.ts';
import { readField } from '../forms.ts';
import type { PageServices } from './page-context.ts';
import { sendPage } from '../send-page.tsx';
import { verifyOldPassword } from './verify-password.ts';
import { Sessions, type SessionsProps } from './views/sessions.tsx';

type Outcome = Pick<SessionsProps, 'errors' | 'ended'>;

/** The list of a person's sessions, and their end, which requires the password. */
export const sessionPages: FastifyPluginAsync<PageServices> = async (app, { cookie }) => {
  async function sendSessions(request: FastifyRequest, reply: FastifyReply, status: number, outcome: Outcome) {
    const { ctx, userId, view } = request.visitor;
    const sessions = await listUserSessions(ctx, userId, cookie.read(request)!);
    return sendPage(reply, status, <Sessions view={view} sessions={sessions} {...outcome} />);
  }

  app.get('/sessions', (request, reply) => sendSessions(request, reply, 200, { errors: {} }));

  app.post('/sessions', async (request, reply) => {
    const { ctx, userId, view } = request.visitor;
    const ids = readField(request, 'which') === 'all' ? null : readIds(request);
    if (ids?.length === 0) return sendSessions(request, reply, 400, { errors: { chosen: view.texts.noSessionChosen } });
    const verified = await verifyOldPassword(request, reply);
    if ('status' in verified) return sendSessions(request, reply, verified.status, { errors: { old: verified.error } });
    const secret = cookie.read(request)!;
    const ended = await endOtherSessions(ctx, { userId, secret, ids, action: getRoute(request) });
    return sendSessions(request, reply, 200, { errors: {}, ended });
  });
};

/** The ids of the ticked sessions, from one or several fields. */
function readIds({ body }: FastifyRequest): string[] {
  const chosen = (body as Record<string, unknown> | undefined)?.['session'];
  return [chosen].flat().filter((id): id is string => typeof id === 'string' && /^[0-9a-f]{16}$/.test(id));
}
