import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import type { ReadForms } from '../../../http/parsing/read-forms.ts';
import { responses } from '../../../http/responses.ts';
import { LocationBody, LocationChange } from './body-schema.ts';
import { locationList } from './list.ts';
import { ListedLocation } from './schema.ts';
import { createLocation, getLocation, locationErrors, locationReferences, updateLocation } from './service.ts';

const tags = ['Course dates'];
const params = Type.Object({ id: t.Id });
const readForms: ReadForms = {
  country: ['country_code'],
  // 0 without a place.
  place_id: [['idPlace', (id) => (Number(id) === 0 ? null : id)], 'place.id'],
  idInstructor: ['instructor.id'],
};

/** Public locations are those of public dates. */
const readAreas = (query: { include?: string[] }, isPublishable: boolean) => [
  ...locationList.readAreas(query),
  ...(isPublishable ? ['dates' as const] : []),
];

export const locationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(
    app,
    { ...locationList, readAreas },
    {
      operationId: 'listLocations',
      summary: 'List locations',
      description: 'An array, with archived locations.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: ['limit', 'page', 'since_id'] },
    },
  );

  app.post('', {
    schema: {
      operationId: 'createLocation',
      summary: 'Create a location',
      description: 'Course dates that are created at a location take over its capacities.',
      tags,
      profiles: ['full'],
      body: LocationBody,
      response: responses.created(ListedLocation),
    },
    config: { idempotency: {}, references: locationReferences, findBodyErrors: locationErrors },
    handler: async ({ ctx, body }, reply) => {
      const created = await createLocation(ctx, body);
      return reply.created(created.id, created);
    },
  });

  app.get('/:id', {
    schema: {
      operationId: 'getLocation',
      summary: 'Get a location',
      description: 'Archived or not.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      item: 'Location',
      params,
      response: responses.ok(ListedLocation),
    },
    handler: ({ ctx, params }) => getLocation(ctx, params.id),
  });

  app.put('/:id', {
    schema: {
      operationId: 'updateLocation',
      summary: 'Update a location',
      description: 'Only the fields sent change. Existing course dates keep their capacities.',
      tags,
      profiles: ['full'],
      item: 'Location',
      params,
      body: LocationChange,
      response: responses.ok(ListedLocation),
    },
    config: { readForms, references: locationReferences, findBodyErrors: locationErrors },
    handler: ({ ctx, params, body }) => updateLocation(ctx, params.id, body),
  });
};
