import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { TagBody, TagChange } from './body-schema.ts';
import { ListedTag } from './schema.ts';
import { createTag, deleteTag, getTag, listTags, renameTag, tagFilters } from './service.ts';

const tags = ['Courses'];
const params = Type.Object({ id: t.Id });

export const tagRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listTags',
      summary: 'List tags',
      description: "All of the school's own tags.",
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      querystring: tagFilters.Query,
      response: responses.ok(Type.Array(ListedTag)),
    },
    ...listRoute.cached(() => ['catalog']),
    handler: (request, reply) => send.whole(request, reply, listTags(listRoute.toCtx(request), request.query)),
  });

  app.post('', {
    schema: {
      operationId: 'createTag',
      summary: 'Create a tag',
      description:
        'An existing tag with an equal title, without regard to case, blanks, apostrophes and hyphens, is returned with ' +
        '200; a new one with 201.',
      tags,
      profiles: ['full'],
      body: TagBody,
      response: { 200: ListedTag, ...responses.created(ListedTag) },
    },
    config: { idempotency: {} },
    handler: async ({ ctx, body }, reply) => {
      const { tag, isNew } = await createTag(ctx, body);
      return isNew ? reply.created(tag.id, tag) : tag;
    },
  });

  app.get('/:id', {
    schema: {
      operationId: 'getTag',
      summary: 'Get a tag',
      description: 'With a publishable key, a tag of a public course.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      item: 'Tag',
      params,
      response: responses.ok(ListedTag),
    },
    handler: ({ ctx, params }) => getTag(ctx, params.id),
  });

  app.put('/:id', {
    schema: {
      operationId: 'updateTag',
      summary: 'Rename a tag',
      description: 'A title that is equal to that of another tag is refused.',
      tags,
      profiles: ['full'],
      item: 'Tag',
      params,
      body: TagChange,
      response: responses.ok(ListedTag),
    },
    handler: ({ ctx, params, body }) => renameTag(ctx, params.id, body),
  });

  app.delete('/:id', {
    schema: {
      operationId: 'deleteTag',
      summary: 'Delete a tag',
      description: 'Courses lose it. Refused while a campaign is for courses with it.',
      tags,
      profiles: ['full'],
      item: 'Tag',
      params,
      response: responses.ok(ListedTag),
    },
    handler: ({ ctx, params }) => deleteTag(ctx, params.id),
  });
};
