import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { responses } from '../../../http/responses.ts';
import { CredentialsBody } from './sign-on-body-schema.ts';
import { SignOnResult, WhoAmI } from './schema.ts';
import { prepareHashing } from './password-service.ts';
import { checkCredentials } from './sign-on-service.ts';
import { describeKey, type ServerFacts } from './key-service.ts';

export const signOnRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Or the first check takes longer.
  await prepareHashing();

  app.post('', {
    schema: {
      operationId: 'checkUserCredentials',
      summary: "Check a course user's password",
      description:
        'For single sign-on. A wrong password and an unknown user get the same response. Ten failures for ' +
        'one username within 15 minutes lead to 429 until the 15 minutes are over.',
      tags: ['People'],
      profiles: ['full'],
      body: CredentialsBody,
      response: responses.ok(SignOnResult),
    },
    handler: ({ ctx, body }) => checkCredentials(ctx, body),
  });
};

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
