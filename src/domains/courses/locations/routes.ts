import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { inputAliases, ListedLocation, LocationBody, LocationChange } from './fields.ts';
import { locationList } from './list.ts';
import { createLocation, getLocation, locationErrors, locationReferences, updateLocation } from './service.ts';

const tags = ['Course dates'];

/** Public locations are those of public dates. */
const readAreas = (query: { include?: string[] }, isPublishable: boolean) => [
  ...locationList.readAreas(query),
  ...(isPublishable ? ['dates' as const] : []),
];

export const locationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const items = itemRoutes(app, 'Location', tags, ListedLocation);

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

  items.post(createLocation, {
    operationId: 'createLocation',
    summary: 'Create a location',
    description: 'Course dates that are created at a location take over its capacities.',
    body: LocationBody,
    config: { references: locationReferences, findBodyErrors: locationErrors },
  });

  items.get(getLocation, {
    operationId: 'getLocation',
    summary: 'Get a location',
    description: 'Archived or not.',
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: { parameters: [] },
  });

  items.put(updateLocation, {
    operationId: 'updateLocation',
    summary: 'Update a location',
    description: 'Only the fields sent change. Existing course dates keep their capacities.',
    body: LocationChange,
    config: { inputAliases, references: locationReferences, findBodyErrors: locationErrors },
  });
};
