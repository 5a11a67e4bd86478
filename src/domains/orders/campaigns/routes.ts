import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { CampaignBody, CampaignChange } from './body-schema.ts';
import { Campaign, CampaignDetails, ValidCampaign } from './schema.ts';
import {
  archiveCampaign,
  campaignReferences,
  createCampaign,
  getCampaign,
  campaignFilters,
  listCampaigns,
  updateCampaign,
  validateCampaign,
  missingCourseId,
} from './service.ts';

const params = Type.Object({ id: t.Id });

export const campaignRoutes: FastifyPluginAsyncTypebox = async (app) => {
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

  app.post('', {
    schema: {
      operationId: 'createCampaign',
      summary: 'Create a campaign',
      description:
        'A campaign applies to all courses and customers unless it names some; an agreement without customers applies ' +
        'only where its code is sent.',
      tags: ['Orders'],
      profiles: ['full'],
      body: CampaignBody,
      response: responses.created(CampaignDetails),
    },
    config: { idempotency: {}, references: campaignReferences },
    handler: async ({ ctx, body }, reply) => {
      const created = await createCampaign(ctx, body);
      return reply.created(created.id, created);
    },
  });

  app.get('/:id', {
    schema: {
      operationId: 'getCampaign',
      summary: 'Get a campaign',
      description: 'Archived or not, with its period and its uses.',
      tags: ['Orders'],
      profiles: ['full', 'read'],
      item: 'Campaign',
      params,
      response: responses.ok(CampaignDetails),
    },
    handler: ({ ctx, params }) => getCampaign(ctx, params.id),
  });

  app.put('/:id', {
    schema: {
      operationId: 'updateCampaign',
      summary: 'Update a campaign',
      description: 'Only the fields sent change. Orders keep what was agreed.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Campaign',
      params,
      body: CampaignChange,
      response: responses.ok(CampaignDetails),
    },
    config: { references: campaignReferences },
    handler: ({ ctx, params, body }) => updateCampaign(ctx, params.id, body),
  });

  app.delete('/:id', {
    schema: {
      operationId: 'archiveCampaign',
      summary: 'Archive a campaign',
      description: 'It applies no more, and its code is free for another one. A second request changes nothing.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Campaign',
      params,
      response: responses.ok(CampaignDetails),
    },
    handler: ({ ctx, params }) => archiveCampaign(ctx, params.id),
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
