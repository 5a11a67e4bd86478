import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { responses } from '../../http/responses.ts';
import { School, SchoolBody } from './schema.ts';
import { getSchool, updateSchool } from './service.ts';

export const schoolRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: "The school's own record",
        tags: ['School'],
        response: responses.ok(Type.Object({ school: School })),
      },
    },
    async ({ ctx }) => ({ school: await getSchool(ctx) }),
  );

  app.put(
    '',
    {
      schema: {
        summary: "Update the school's own record",
        description: 'Optional fields that are not sent keep their value, but `active` not sent is true.',
        tags: ['School'],
        body: SchoolBody,
        response: responses.ok(Type.Object({ school_id: Type.Integer() })),
      },
    },
    async ({ ctx, body }) => ({ school_id: await updateSchool(ctx, body) }),
  );
};
