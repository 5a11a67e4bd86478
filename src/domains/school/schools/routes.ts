import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { responses } from '../../../http/responses.ts';
import { t } from '../../../core/schema/types.ts';
import { SchoolBody } from './body-schema.ts';
import { School } from './schema.ts';
import { getSchool, updateSchool } from './service.ts';

const readBack = {
  read: (ctx: Ctx) => getSchool(ctx),
  inputs: {
    'post_address.address': 'post_address',
    'post_address.zip': 'post_zip',
    'post_address.city': 'post_city',
    'visit_address.address': 'visit_address',
    'visit_address.zip': 'visit_zip',
    'visit_address.city': 'visit_city',
  },
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
    config: { readBack },
    handler: async ({ ctx, body }) => ({ school_id: await updateSchool(ctx, body) }),
  });
};
