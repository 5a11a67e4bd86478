import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { InterestBody } from './body-schema.ts';
import { interestList } from './list.ts';
import { InterestReceived } from './schema.ts';
import { listInterests, requestInterest } from './service.ts';

const tags = ['Courses'];
const params = Type.Object({ id: { ...t.Id, description: 'Id of the course' } });

export const interestRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Without an ETag: old interests are deleted without a write of the school's.
  app.get('', {
    schema: {
      operationId: 'listInterests',
      summary: 'List the interests in a course',
      description: 'Addresses that asked for a mail about a date, confirmed or not, and those mailed lately.',
      tags,
      profiles: ['full', 'read'],
      item: 'Course',
      params,
      querystring: interestList.Query,
      response: responses.ok(Type.Array(interestList.View)),
    },
    ...listRoute.limited,
    handler: async (request, reply) =>
      send.items(request, reply, await listInterests(listRoute.toCtx(request), request.params.id, request.query)),
  });

  app.post('', {
    schema: {
      operationId: 'requestInterest',
      summary: 'Ask for a mail when a course has a date',
      description:
        'Sends a mail with a link; the interest counts once it is confirmed there. A known address is answered as ' +
        'an unknown one. A course with a date that can be booked is refused.',
      tags,
      profiles: ['full', 'booking'],
      item: 'Course',
      params,
      body: InterestBody,
      response: responses.accepted(InterestReceived),
    },
    handler: async ({ ctx, params, body }, reply) => {
      const received = await requestInterest(ctx, params.id, body);
      return reply.code(202).send(received);
    },
  });
};
