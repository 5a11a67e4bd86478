import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import { createFeed, endFeed, findFeedOfUser } from './feeds.ts';
import { readField } from '../forms.ts';
import { sendPage } from '../send-page.tsx';
import { Details, type FeedChange } from './views/details.tsx';

/** The person's details, with the address of the personal calendar. */
export const detailsPages: FastifyPluginAsync = async (app) => {
  app.get('/details', (request, reply) => sendDetails(request, reply));

  app.post('/details', async (request, reply) => {
    const { ctx, userId } = request.visitor;
    const { publicUrl } = ctx.settings;
    switch (readField(request, 'calendar')) {
      case 'create':
        return sendDetails(request, reply, {
          address: `${publicUrl}/my/calendar/${await createFeed(ctx, userId)}.ics`,
        });
      case 'end':
        await endFeed(ctx, userId);
        return sendDetails(request, reply, 'ended');
      default:
        throw Problem.invalidFields({ notValid: ['calendar'] });
    }
  });
};

async function sendDetails({ visitor }: FastifyRequest, reply: FastifyReply, change?: FeedChange) {
  const { ctx, userId, view } = visitor;
  const createdAt = await findFeedOfUser(ctx, userId);
  return sendPage(reply, 200, <Details view={view} feed={{ createdAt, change }} />);
}
