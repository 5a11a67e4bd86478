import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { created } from '../../http/answers.ts';
import { CustomerBody } from './body.ts';
import { createCustomer } from './service.ts';

export const customerRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '',
    {
      schema: {
        summary: 'Create a customer',
        description: 'Customers show inside orders, participants and course users.',
        tags: ['People'],
        body: CustomerBody,
        response: created(Type.Object({ customer_id: Type.Integer() })),
      },
    },
    async ({ ctx, body }, reply) => reply.code(201).send({ customer_id: await createCustomer(ctx, body) }),
  );
};
