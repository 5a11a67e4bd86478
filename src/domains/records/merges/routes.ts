import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { responses } from '../../../http/responses.ts';
import { MergeBody } from './body-schema.ts';
import { CourseUserMerge, CustomerMerge } from './schema.ts';
import { courseUserMergeReferences, customerMergeReferences, mergeCourseUser, mergeCustomer } from './service.ts';

const tags = ['People'];
const params = Type.Object({ id: t.Id });
const toMerge = (request: { query: Static<typeof DryRunQuery>; body: MergeBody }) => ({
  into: request.body.into,
  dry_run: isDryRun(request),
});

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
      querystring: DryRunQuery,
      body: MergeBody,
      response: responses.ok(CourseUserMerge),
    },
    config: { refusesUnknown: true, idempotency: {}, references: courseUserMergeReferences },
    handler: (request) => mergeCourseUser(request.ctx, request.params.id, toMerge(request)),
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
      querystring: DryRunQuery,
      body: MergeBody,
      response: responses.ok(CustomerMerge),
    },
    config: { refusesUnknown: true, idempotency: {}, references: customerMergeReferences },
    handler: (request) => mergeCustomer(request.ctx, request.params.id, toMerge(request)),
  });
};
