import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { responses } from '../../../http/responses.ts';
import { t } from '../../../core/schema/types.ts';
import { School, SchoolBody } from './fields.ts';
import { getSchool, updateSchool } from './service.ts';

const inputAliases = {
  post_address: ['post_address.address'],
  post_zip: ['post_address.zip'],
  post_city: ['post_address.city'],
  visit_address: ['visit_address.address'],
  visit_zip: ['visit_address.zip'],
  visit_city: ['visit_address.city'],
};

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
