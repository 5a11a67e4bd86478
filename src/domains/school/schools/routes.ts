import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { responses } from '../../../http/responses.ts';
import { t } from '../../../core/schema/types.ts';
import { inputAliases, School, SchoolBody } from './fields.ts';
import { getSchool, updateSchool } from './service.ts';

export const schoolRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'getSchool',
      summary: 'Get the school',
      description: 'The school of the API key.',
      tags: ['School'],
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      item: 'School',
      response: responses.ok(t.NamedObject('SchoolResult', { school: t.member.open(School) })),
    },
    handler: async ({ ctx }) => ({ school: await getSchool(ctx) }),
  });

  app.put('', {
    schema: {
      operationId: 'updateSchool',
      summary: 'Update the school',
      description: 'Optional fields that are not sent keep their value, but `active` not sent is true.',
      tags: ['School'],
      profiles: ['full'],
      body: SchoolBody,
      response: responses.ok(t.NamedObject('SchoolReference', { school_id: Type.Integer() })),
    },
    config: { inputAliases },
    handler: async ({ ctx, body }) => ({ school_id: await updateSchool(ctx, body) }),
  });
};
