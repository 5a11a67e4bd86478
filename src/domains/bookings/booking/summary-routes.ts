import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { responses } from '../../../http/responses.ts';
import { BookingQuery, StoredBooking } from './summary-schema.ts';
import { getBooking } from './summary-service.ts';

export const bookingSummaryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.get('', {
    schema: {
      operationId: 'getBooking',
      summary: 'Get a booking',
      description:
        'Its summary, with all participants and their current statuses. The totals are those agreed with the booking.',
      tags: ['Booking'],
      profiles: ['full', 'read', 'booking'],
      item: 'Booking',
      params: Type.Object({ id: t.Id }),
      querystring: BookingQuery,
      response: { 200: StoredBooking, ...responses.codedErrors },
    },
    handler: ({ ctx, params, query }) => getBooking(ctx, params.id, query),
  });
};
