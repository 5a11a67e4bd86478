import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses } from '../../../http/responses.ts';
import { Duration, toDurations } from './schema.ts';

export const durationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listDurationUnits',
      summary: 'List duration units',
      description: 'The units of the durations of courses.',
      tags: ['Courses'],
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      response: responses.ok(Type.Array(Duration)),
    },
    ...listRoute.cached(() => []),
    handler: async (request) => toDurations(listRoute.toCtx(request)),
  });
};
