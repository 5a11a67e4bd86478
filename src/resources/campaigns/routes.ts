import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Id, Title } from '../../core/schema.ts';
import { answers, faults, inTurn } from '../../http/answers.ts';
import { answerProblems, bookingWording } from '../../http/problems.ts';
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
        response: answers(Type.Array(Campaign)),
      },
      ...inTurn,
    },
    ({ ctx }) => listCampaigns(ctx),
  );
};

export const campaignValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  answerProblems(app, bookingWording);

  app.get(
    '/:code',
    {
      schema: {
        summary: 'Look up a campaign code for a course',
        description:
          'One of `coursedate_id` and `course_id` is required. A campaign that is not running is answered too, and says so.',
        tags: ['Booking'],
        params: Type.Object({ code: Title() }),
        querystring: Type.Object({
          coursedate_id: Type.Optional({ ...Id, description: 'The course date to be booked' }),
          course_id: Type.Optional({ ...Id, description: 'Or the course' }),
        }),
        response: { 200: ValidCampaign, ...faults },
      },
    },
    ({ ctx, params, query }) => validateCampaign(ctx, params.code, query),
  );
};
