import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { responses } from '../../http/responses.ts';
import { WhoAmI } from './whoami-schema.ts';
import { describeKey, type ServerFacts } from './whoami-service.ts';

export const whoAmIRoutes: FastifyPluginAsyncTypebox<ServerFacts> = async (app, facts) => {
  app.get('', {
    schema: {
      operationId: 'whoAmI',
      summary: 'Describe the API key',
      description: 'The school and the profile of the key, the rate limit, the time zone and the time of the server.',
      tags: ['School'],
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      item: 'School',
      response: responses.ok(WhoAmI),
    },
    handler: ({ ctx }) => describeKey(ctx, facts),
  });
};
