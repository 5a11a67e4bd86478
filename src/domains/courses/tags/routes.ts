import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { ListedTag, TagBody, TagChange } from './fields.ts';
import { createTag, deleteTag, getTag, listTags, renameTag, tagFilters } from './service.ts';

const tags = ['Courses'];

export const tagRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const items = itemRoutes(app, 'Tag', tags, ListedTag);

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

  items.get(getTag, {
    operationId: 'getTag',
    summary: 'Get a tag',
    description: 'With a publishable key, a tag of a public course.',
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: { parameters: [] },
  });

  items.put(renameTag, {
    operationId: 'updateTag',
    summary: 'Rename a tag',
    description: 'A title that is equal to that of another tag is refused.',
    body: TagChange,
  });

  items.delete(deleteTag, {
    operationId: 'deleteTag',
    summary: 'Delete a tag',
    description: 'Courses lose it. Refused while a campaign is for courses with it.',
  });
};
