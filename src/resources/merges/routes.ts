import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { responses } from '../../http/responses.ts';
import { MergeBody } from './body-schema.ts';
import { CourseUserMerge, CustomerMerge } from './schema.ts';
import { courseUserMergeReferences, customerMergeReferences, mergeCourseUser, mergeCustomer } from './service.ts';

const tags = ['People'];
const params = Type.Object({ id: t.Id });

export const courseUserMergeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'mergeCourseUser',
      summary: 'Merge a course user into another one',
      description:
        'Participants, with their orders and attendance, follow; two places on one date stay two. Sessions, links and ' +
        'the password of the merged one end, and it is gone. `into` keeps its own fields.',
      tags,
      profiles: ['full'],
      item: 'Course user',
      params,
      body: MergeBody,
      response: responses.ok(CourseUserMerge),
    },
    config: { idempotency: {}, references: courseUserMergeReferences },
    handler: ({ ctx, params, body }) => mergeCourseUser(ctx, params.id, body),
  });
};

export const customerMergeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'mergeCustomer',
      summary: 'Merge a customer into another one',
      description:
        'Employees, child customers, corporate courses, agreements and orders follow; the merged customer is gone. ' +
        '`into` keeps its own fields.',
      tags,
      profiles: ['full'],
      item: 'Customer',
      params,
      body: MergeBody,
      response: responses.ok(CustomerMerge),
    },
    config: { idempotency: {}, references: customerMergeReferences },
    handler: ({ ctx, params, body }) => mergeCustomer(ctx, params.id, body),
  });
};
