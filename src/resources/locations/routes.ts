import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import * as t from '../../core/schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { LocationBody, LocationChange } from './body-schema.ts';
import { locationList } from './list.ts';
import { Location } from './schema.ts';
import { createLocation, listLocations, locationErrors, locationReferences, updateLocation } from './service.ts';

const tags = ['Course dates'];
const readBack = {
  read: (ctx: Ctx, { id }: { id: number }) => locationList.byId(ctx, id),
  inputs: {
    country: 'country',
    country_code: 'country',
    idCountry: 'country',
    idPlace: 'place_id',
    place: 'place_id',
    instructor: 'idInstructor',
    full_address: 'address',
  },
};

export const locationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listLocations',
        summary: 'List locations',
        description: 'An array, with archived locations.',
        tags,
        profiles: ['full', 'read', 'booking', 'publishable'],
        publicQuery: { parameters: ['limit', 'page', 'since_id'] },
        querystring: locationList.Query,
        response: responses.ok(Type.Array(locationList.View)),
      },
      // Public locations are those of public dates.
      ...listRoute.cached((query, isPublishable) => [
        ...locationList.readAreas(query),
        ...(isPublishable ? ['dates' as const] : []),
      ]),
    },
    async (request, reply) => send.items(request, reply, await listLocations(listRoute.toCtx(request), request.query)),
  );

  app.post(
    '',
    {
      schema: {
        operationId: 'createLocation',
        summary: 'Create a location',
        description: 'Course dates that are created at a location take over its capacities.',
        tags,
        profiles: ['full'],
        body: LocationBody,
        response: responses.created(Location),
      },
      config: { references: locationReferences, findBodyErrors: locationErrors },
    },
    async ({ ctx, body }, reply) => reply.code(201).send(await createLocation(ctx, body)),
  );

  app.put(
    '/:id',
    {
      schema: {
        operationId: 'updateLocation',
        summary: 'Update a location',
        description: 'Only the fields sent change. Existing course dates keep their capacities.',
        tags,
        profiles: ['full'],
        item: 'Location',
        params: Type.Object({ id: t.Id }),
        body: LocationChange,
        response: responses.ok(Location),
      },
      config: { readBack, references: locationReferences, findBodyErrors: locationErrors },
    },
    ({ ctx, params, body }) => updateLocation(ctx, params.id, body),
  );
};
