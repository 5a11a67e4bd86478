import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses } from '../../http/responses.ts';
import { TagBody } from './body-schema.ts';
import { Tag } from './schema.ts';
import { createTag, listTags } from './service.ts';

export const tagRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listTags',
      summary: 'List tags',
      description: "All of the school's own tags.",
      tags: ['Courses'],
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      response: responses.ok(Type.Array(Tag)),
    },
    ...listRoute.cached(() => ['catalog']),
    handler: (request) => listTags(listRoute.toCtx(request)),
  });

  app.post('', {
    schema: {
      operationId: 'createTag',
      summary: 'Create a tag',
      description:
        'An existing tag with an equal title, without regard to case, blanks, apostrophes and hyphens, is returned with ' +
        '200; a new one with 201.',
      tags: ['Courses'],
      profiles: ['full'],
      body: TagBody,
      response: { 200: Tag, ...responses.created(Tag) },
    },
    handler: async ({ ctx, body }, reply) => {
      const { tag, isNew } = await createTag(ctx, body);
      return reply.code(isNew ? 201 : 200).send(tag);
    },
  });
};
