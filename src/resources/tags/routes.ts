import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, revalidated } from '../../http/answers.ts';
import { Tag } from './schema.ts';
import { listTags } from './service.ts';

export const tagRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: { summary: "All of the school's own tags", tags: ['Courses'], response: answers(Type.Array(Tag)) },
      ...revalidated,
    },
    ({ ctx }) => listTags(ctx),
  );
};
