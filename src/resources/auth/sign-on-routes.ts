import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { responses } from '../../http/responses.ts';
import { CredentialsBody } from './sign-on-body-schema.ts';
import { SignOnAnswer } from './sign-on-schema.ts';
import { checkCredentials, prepareSignOn } from './sign-on-service.ts';

export const signOnRoutes: FastifyPluginAsyncTypebox = async (app) => {
  await prepareSignOn();

  app.post(
    '',
    {
      schema: {
        summary: "Check a course user's password",
        description:
          'For single sign-on. A wrong password and an unknown user answer the same. Ten failures for one username ' +
          'within 15 minutes answer 429 until the 15 minutes are over.',
        tags: ['People'],
        body: CredentialsBody,
        response: responses.ok(SignOnAnswer),
      },
    },
    ({ ctx, body }) => checkCredentials(ctx, body),
  );
};
