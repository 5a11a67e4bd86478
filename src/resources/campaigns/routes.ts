import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import * as t from '../../schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses } from '../../http/responses.ts';
import { registerErrorHandler, formatBookingError } from '../../http/errors/error-handler.ts';
import { Campaign, ValidCampaign } from './schema.ts';
import { listCampaigns, validateCampaign } from './service.ts';

export const campaignRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Without an ETag: what is running, waiting or expired depends on the clock.
  app.get(
    '',
    {
      schema: {
        summary: "All of the school's campaigns and agreements",
        tags: ['Orders'],
        response: responses.ok(Type.Array(Campaign)),
      },
      ...listRoute.limited,
    },
    ({ ctx }) => listCampaigns(ctx),
  );
};

export const campaignValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerErrorHandler(app, formatBookingError);

  const schema = {
    description:
      'One of `coursedate_id` and `course_id` is required. A campaign that is not running is answered too, and says so.',
    tags: ['Booking'],
    response: { 200: ValidCampaign, ...responses.bookingErrors },
  };
  const Code = Type.Object({ code: t.Title() });
  const Booked = Type.Object({
    coursedate_id: Type.Optional({ ...t.Id, description: 'The course date to be booked' }),
    course_id: Type.Optional({ ...t.Id, description: 'Or the course' }),
  });

  app.get(
    '',
    {
      schema: {
        summary: 'Look up a campaign code of the query for a course',
        ...schema,
        querystring: Type.Object({ ...Code.properties, ...Booked.properties }),
      },
    },
    ({ ctx, query }) => validateCampaign(ctx, query.code, query),
  );

  app.get(
    '/:code',
    { schema: { summary: 'Look up a campaign code for a course', ...schema, params: Code, querystring: Booked } },
    ({ ctx, params, query }) => validateCampaign(ctx, params.code, query),
  );
};
