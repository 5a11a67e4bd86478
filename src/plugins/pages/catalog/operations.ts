import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { CatalogSettingsBody } from '../../../domains/school/catalog-settings/body-schema.ts';
import { CatalogSettings } from '../../../domains/school/catalog-settings/schema.ts';
import { getCatalogSettings, updateCatalogSettings } from '../../../domains/school/catalog-settings/service.ts';
import { t } from '../../../core/schema/types.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { InterestBody } from '../../../domains/courses/interests/body-schema.ts';
import { interestList } from '../../../domains/courses/interests/list.ts';
import { InterestReceived } from '../../../domains/courses/interests/schema.ts';
import { listInterests, requestInterest } from '../../../domains/courses/interests/service.ts';

const params = Type.Object({ id: { ...t.Id, description: 'Id of the course' } });

export const interestRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Without an ETag: old interests are deleted without a write of the school's.
  app.get('', {
    schema: {
      operationId: 'listInterests',
      summary: 'List the interests in a course',
      description: 'Addresses that asked for a mail about a date, confirmed or not, and those mailed lately.',
      tags: ['Courses'],
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
      tags: ['Courses'],
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

export const catalogSettingsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'getCatalogSettings',
      summary: 'Get the catalog settings',
      description: "The school's public catalog: whether it is on, its address, its looks and its booking form.",
      tags: ['School'],
      profiles: ['full', 'read'],
      response: responses.ok(CatalogSettings),
    },
    handler: ({ ctx }) => getCatalogSettings(ctx),
  });

  app.put('', {
    schema: {
      operationId: 'updateCatalogSettings',
      summary: 'Update the catalog settings',
      description: 'Only the fields sent change, also within `theme` and `fields`.',
      tags: ['School'],
      profiles: ['full'],
      body: CatalogSettingsBody,
      response: responses.ok(CatalogSettings),
    },
    handler: ({ ctx, body }) => updateCatalogSettings(ctx, body),
  });
};
