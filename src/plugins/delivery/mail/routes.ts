import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { mailList } from '../../../domains/messages/mails/list.ts';
import { Mail } from '../../../domains/messages/mails/schema.ts';
import { getMail, resendMail } from '../../../domains/messages/mails/service.ts';

const tags = ['Mails'];
const params = Type.Object({ id: t.Id });

export const mailRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Without an ETag: states of mails change without a write of the school's.
  app.get('', {
    schema: {
      operationId: 'listMails',
      summary: 'List mails',
      description: 'Mails that wait, and mails that were sent or have failed lately, without their texts.',
      tags,
      profiles: ['full', 'read'],
      querystring: mailList.Query,
      response: responses.ok(Type.Array(mailList.View)),
    },
    ...listRoute.limited,
    handler: async (request, reply) =>
      send.items(request, reply, await mailList.page(listRoute.toCtx(request), request.query)),
  });

  itemRoutes(app, 'Mail', tags, Mail).get(getMail, {
    operationId: 'getMail',
    summary: 'Get a mail',
    description: 'Without its text.',
    profiles: ['full', 'read'],
  });

  app.post('/:id/resend', {
    schema: {
      operationId: 'resendMail',
      summary: 'Send a mail again',
      description:
        'Queues a new mail with the same purpose and recipient, written with current data. A refused address is tried ' +
        'again. A mail that waits, or of which an equal one waits or was sent in the last 5 minutes, is refused.',
      tags,
      profiles: ['full'],
      item: 'Mail',
      params,
      response: responses.created(Mail),
    },
    config: { refusesUnknown: true, idempotency: {} },
    handler: async ({ ctx, params }, reply) => {
      const mail = await resendMail(ctx, params.id);
      return reply.created(mail.id, mail, '/v2/mails');
    },
  });
};
