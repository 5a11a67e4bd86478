import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Problem } from '../../core/errors.ts';
import { t } from '../../core/schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses } from '../../http/responses.ts';
import { registerCodedErrorFormat } from '../../http/errors/error-handler.ts';
import { Campaign, ValidCampaign } from './schema.ts';
import { listCampaigns, validateCampaign } from './service.ts';

export const campaignRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Without an ETag: campaign states depend on the clock.
  app.get('', {
    schema: {
      operationId: 'listCampaigns',
      summary: 'List campaigns',
      description: 'All campaigns and agreements of the school.',
      tags: ['Orders'],
      profiles: ['full', 'read'],
      response: responses.ok(Type.Array(Campaign)),
    },
    ...listRoute.limited,
    handler: ({ ctx }) => listCampaigns(ctx),
  });
};

export const campaignValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  const schema = {
    description:
      '`coursedate_id` or `course_id` is required. A campaign that is not running is returned with its state.',
    tags: ['Booking'],
    profiles: ['full', 'read', 'booking'] as const,
    item: 'Campaign',
    invalidSamples: {
      missing: new Problem('invalid', 'coursedate_id or course_id is missing', {
        errors: [{ code: 'missing_course_id', message: 'coursedate_id or course_id is missing' }],
      }),
    },
    response: { 200: ValidCampaign, ...responses.codedErrors },
  };
  const Code = Type.Object({ code: t.Title({ description: 'The campaign code', examples: ['KVELDSKAFFE'] }) });
  const Booked = Type.Object({
    coursedate_id: Type.Optional({
      ...t.Id,
      description: 'The course date to be booked; required unless course_id is sent',
    }),
    course_id: Type.Optional({
      ...t.Id,
      description: 'The course to be booked; required unless coursedate_id is sent',
      examples: [32],
    }),
  });

  app.get('', {
    schema: {
      operationId: 'validateCampaignByQuery',
      summary: 'Validate a campaign code in the query',
      ...schema,
      querystring: Type.Object({ ...Code.properties, ...Booked.properties }),
    },
    handler: ({ ctx, query }) => validateCampaign(ctx, query.code, query),
  });

  app.get('/:code', {
    schema: {
      operationId: 'validateCampaign',
      summary: 'Validate a campaign code',
      ...schema,
      params: Code,
      querystring: Booked,
    },
    handler: ({ ctx, params, query }) => validateCampaign(ctx, params.code, query),
  });
};
