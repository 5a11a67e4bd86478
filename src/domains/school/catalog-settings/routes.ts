import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Ctx } from '../../../database/context.ts';
import { responses } from '../../../http/responses.ts';
import { CatalogSettingsBody } from './body-schema.ts';
import { CatalogSettings } from './schema.ts';
import { getCatalogSettings, updateCatalogSettings } from './service.ts';

const tags = ['School'];

export const catalogSettingsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'getCatalogSettings',
      summary: 'Get the catalog settings',
      description: "The school's public catalog: whether it is on, its address, its looks and its booking form.",
      tags,
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
      tags,
      profiles: ['full'],
      body: CatalogSettingsBody,
      response: responses.ok(CatalogSettings),
    },
    config: { readBack: { read: (ctx: Ctx) => getCatalogSettings(ctx) } },
    handler: ({ ctx, body }) => updateCatalogSettings(ctx, body),
  });
};
