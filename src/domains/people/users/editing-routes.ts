import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { nameIgnored } from '../../../http/parsing/ignored-names.ts';
import { responses } from '../../../http/responses.ts';
import { addressForms } from '../customers/schema.ts';
import { CourseUser } from './schema.ts';
import { CourseUserBody, CourseUserChange } from './body-schema.ts';
import { courseUserReferences, createCourseUser, updateCourseUser } from './editing-service.ts';

const tags = ['People'];
const readForms = {
  customer_id: ['customer.id'],
  ...addressForms('invoice'),
  invoice_phone: ['invoice_address.invoice_phone'],
  ...addressForms('home'),
  ...addressForms('work'),
};

export const courseUserEditingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'createCourseUser',
      summary: 'Create a course user',
      description:
        'A person with an equal e-mail and equal names is returned unchanged, with 200, and the fields with other ' +
        'values in `X-Ignored-Parameters`. The username is one as by a booking unless sent; no password is set.',
      tags,
      profiles: ['full'],
      body: CourseUserBody,
      response: { 200: CourseUser, ...responses.created(CourseUser) },
    },
    config: { idempotency: {}, references: courseUserReferences },
    handler: async ({ ctx, body }, reply) => {
      const { user, isNew, ignored } = await createCourseUser(ctx, body);
      if (isNew) return reply.created(user.id, user);
      nameIgnored(reply, ignored);
      return user;
    },
  });

  app.put('/:id', {
    schema: {
      operationId: 'updateCourseUser',
      summary: 'Update a course user',
      description:
        'Only the fields sent change. The username stays unless sent; a new e-mail ends the links that were mailed. ' +
        'An e-mail and names of another course user are refused: merge them.',
      tags,
      profiles: ['full'],
      item: 'Course user',
      params: Type.Object({ id: t.Id }),
      body: CourseUserChange,
      response: responses.ok(CourseUser),
    },
    config: { readForms, references: courseUserReferences },
    handler: ({ ctx, params, body }) => updateCourseUser(ctx, params.id, body),
  });
};
