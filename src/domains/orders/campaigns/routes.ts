import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { Campaign, CampaignBody, CampaignChange, CampaignDetails, ValidCampaign } from './fields.ts';
import {
  campaignFilters,
  campaignOperations,
  campaignReferences,
  listCampaigns,
  missingCourseId,
  validateCampaign,
} from './service.ts';

export const campaignRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const items = itemRoutes(app, 'Campaign', ['Orders'], CampaignDetails);

  // Without an ETag: campaign states depend on the clock.
  app.get('', {
    schema: {
      operationId: 'listCampaigns',
      summary: 'List campaigns',
      description: 'All campaigns and agreements of the school.',
      tags: ['Orders'],
      profiles: ['full', 'read'],
      querystring: campaignFilters.Query,
      response: responses.ok(Type.Array(Campaign)),
    },
    ...listRoute.limited,
    handler: (request, reply) => send.whole(request, reply, listCampaigns(request.ctx, request.query)),
  });

  items.post(campaignOperations.create, {
    operationId: 'createCampaign',
    summary: 'Create a campaign',
    description:
      'A campaign applies to all courses and customers unless it names some; an agreement without customers applies ' +
      'only where its code is sent.',
    body: CampaignBody,
    config: { references: campaignReferences },
  });

  items.get(campaignOperations.get, {
    operationId: 'getCampaign',
    summary: 'Get a campaign',
    description: 'Archived or not, with its period and its uses.',
    profiles: ['full', 'read'],
  });

  items.put(campaignOperations.update, {
    operationId: 'updateCampaign',
    summary: 'Update a campaign',
    description: 'Only the fields sent change. Orders keep what was agreed.',
    body: CampaignChange,
    config: { references: campaignReferences },
  });

  items.delete(campaignOperations.archive, {
    operationId: 'archiveCampaign',
    summary: 'Archive a campaign',
    description: 'It applies no more, and its code is free for another one. A second request changes nothing.',
  });
};

export const campaignValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.get('/:code', {
    schema: {
      operationId: 'validateCampaign',
      summary: 'Validate a campaign code',
      description:
        '`coursedate_id` or `course_id` is required. A campaign that is not running is returned with its state.',
      tags: ['Booking'],
      profiles: ['full', 'read', 'booking'],
      item: 'Campaign',
      invalidSamples: { missing: missingCourseId() },
      params: Type.Object({ code: t.Title({ description: 'The campaign code', examples: ['KVELDSKAFFE'] }) }),
      querystring: Type.Object({
        coursedate_id: Type.Optional({
          ...t.Id,
          description: 'The course date to be booked; required unless course_id is sent',
        }),
        course_id: Type.Optional({
          ...t.Id,
          description: 'The course to be booked; required unless coursedate_id is sent',
          examples: [32],
        }),
      }),
      response: { 200: ValidCampaign, ...responses.codedErrors },
    },
    handler: ({ ctx, params, query }) => validateCampaign(ctx, params.code, query),
  });
};
