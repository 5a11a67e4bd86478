import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { responses } from '../../../http/responses.ts';
import { BookingSettingsBody } from './body-schema.ts';
import { BookingSettings } from './schema.ts';
import { getBookingSettings, updateBookingSettings } from './service.ts';

const tags = ['School'];

export const bookingSettingsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'getBookingSettings',
      summary: 'Get the booking settings',
      description: 'Rules of the school for cancellations, its mails and their texts.',
      tags,
      profiles: ['full', 'read'],
      response: responses.ok(BookingSettings),
    },
    handler: ({ ctx }) => getBookingSettings(ctx),
  });

  app.put('', {
    schema: {
      operationId: 'updateBookingSettings',
      summary: 'Update the booking settings',
      description: 'Only the fields sent change, also within `mails` and `texts`.',
      tags,
      profiles: ['full'],
      body: BookingSettingsBody,
      response: responses.ok(BookingSettings),
    },
    handler: ({ ctx, body }) => updateBookingSettings(ctx, body),
  });
};
