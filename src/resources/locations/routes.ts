import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Id } from '../../schema/types.ts';
import { answers, created, revalidated, sendItems } from '../../http/responses.ts';
import { withBodyFaults } from '../../http/parsing/body-errors.ts';
import { LocationBody, LocationChange } from './body-schema.ts';
import { locationList } from './list.ts';
import { Location } from './schema.ts';
import { createLocation, listLocations, locationFaults, updateLocation } from './service.ts';

const tags = ['Course dates'];

export const locationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List locations',
        description: 'An array, archived locations included.',
        tags,
        querystring: locationList.Query,
        response: answers(Type.Array(locationList.View)),
      },
      ...revalidated,
    },
    async (request, reply) => sendItems(request, reply, await listLocations(request.ctx, request.query)),
  );

  app.post(
    '',
    {
      schema: { summary: 'Create a location', tags, body: LocationBody, response: created(Location) },
      ...withBodyFaults(locationFaults),
    },
    async ({ ctx, body }, reply) => reply.code(201).send(await createLocation(ctx, body)),
  );

  app.put(
    '/:id',
    {
      schema: {
        summary: 'Update a location',
        description: 'Only the fields sent change. Course dates that were made already keep their capacities.',
        tags,
        params: Type.Object({ id: Id }),
        body: LocationChange,
        response: answers(Location),
      },
      ...withBodyFaults(locationFaults),
    },
    ({ ctx, params, body }) => updateLocation(ctx, params.id, body),
  );
};
