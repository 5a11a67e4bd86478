import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, revalidated, sendItems } from '../../http/answers.ts';
import { locationList } from './query.ts';

export const locationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List locations',
        description: 'An array, archived locations included.',
        tags: ['Course dates'],
        querystring: locationList.Query,
        response: answers(Type.Array(locationList.View)),
      },
      ...revalidated,
    },
    async (request, reply) => sendItems(request, reply, await locationList.page(request.ctx, request.query)),
  );
};
