import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { cachedList } from '../../http/list-cache/index.ts';
import { okResponses } from '../../http/responses.ts';
import { Duration, toDurations } from './duration-schema.ts';

export const durationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listDurationUnits',
        summary: 'List duration units',
        description: 'The units of `duration_value` of courses.',
        tags: ['Courses'],
        response: okResponses(Type.Array(Duration)),
      },
      ...cachedList,
    },
    async ({ ctx }) => toDurations(ctx.language),
  );
};
