import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { responses } from '../../../http/responses.ts';
import { LinkResult } from './schema.ts';
import { sendLink } from './service.ts';

export const linkRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.post('', {
    schema: {
      operationId: 'sendBookingLink',
      summary: 'Mail the booker a link',
      description: 'To a page of the booking, which needs no sign-on. Earlier links end when the mail is sent.',
      tags: ['Booking'],
      profiles: ['full', 'booking'],
      item: 'Booking',
      params: Type.Object({ id: t.Id }),
      response: { 200: LinkResult, ...responses.codedErrors },
    },
    config: { refusesUnknown: true },
    handler: ({ ctx, params }) => sendLink(ctx, params.id),
  });
};
