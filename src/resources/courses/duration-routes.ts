import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, revalidated } from '../../http/responses.ts';
import { Duration, toDurations } from './duration-schema.ts';

export const durationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'The units a duration is given in',
        tags: ['Courses'],
        response: answers(Type.Array(Duration)),
      },
      ...revalidated,
    },
    async ({ ctx }) => toDurations(ctx.language),
  );
};
