import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import { readField } from '../forms.ts';
import { confirmInterest, deleteInterest, findInterest } from '../../../domains/courses/interests/service.ts';
import type { PageServices } from './page-context.ts';
import { loadSchool } from './people.ts';
import { sendPage } from '../send-page.tsx';
import { sendNotice } from './views/notice.tsx';
import { Interest } from './views/interest.tsx';

type TokenRoute = { Params: { token: string } };

const path = '/interest/:token';

/** The page on which a person confirms or ends the interest in a course. Opening it changes nothing. */
export const interestPage: FastifyPluginAsync<PageServices> = async (app, { unlockedStore, createVisitorContext }) => {
  async function openLink(request: FastifyRequest<TokenRoute>) {
    const { token } = request.params;
    const interest = await findInterest(unlockedStore, token);
    if (!interest) return undefined;
    const ctx = await createVisitorContext(request, { providerId: interest.providerId, userId: null });
    return { ctx, token, interest, view: { ...request.view, school: await loadSchool(ctx) } };
  }

  app.get<TokenRoute>(path, async (request, reply) => {
    const visit = await openLink(request);
    return visit ? sendPage(reply, 200, <Interest {...visit} />) : sendLinkGone(request, reply);
  });

  app.post<TokenRoute>(path, async (request, reply) => {
    const visit = await openLink(request);
    if (!visit) return sendLinkGone(request, reply);
    const { ctx, token, interest, view } = visit;
    const answer = readField(request, 'answer');
    if (answer === 'confirm') {
      await confirmInterest(ctx, token);
      return sendPage(reply, 200, <Interest view={view} interest={{ ...interest, isConfirmed: true }} />);
    }
    if (answer !== 'end') throw Problem.invalidFields({ notValid: ['answer'] });
    await deleteInterest(ctx, token);
    const { interestEnded, interestEndedHelp } = view.texts;
    return sendNotice(reply, 200, view, interestEnded, interestEndedHelp);
  });
};

/** One page for unknown and ended links, so that it reveals nothing. */
function sendLinkGone({ view }: FastifyRequest, reply: FastifyReply) {
  const { linkGone, interestGone, interestAgain } = view.texts;
  return sendNotice(reply, 410, view, linkGone, interestGone, interestAgain);
}
