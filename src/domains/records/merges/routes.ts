import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type, type TSchema } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import type { Ctx } from '../../../database/context.ts';
import { responses } from '../../../http/responses.ts';
import type { References } from '../../../lists/references.ts';
import { MergeBody } from './body-schema.ts';
import { CourseUserMerge, CustomerMerge } from './schema.ts';
import { courseUserMergeReferences, customerMergeReferences, mergeCourseUser, mergeCustomer } from './service.ts';

type Described = Record<'operationId' | 'summary' | 'description' | 'item', string>;
type Merge = { references: References; result: TSchema; merge(ctx: Ctx, id: number, body: MergeBody): Promise<object> };

const mergeRoutes =
  (described: Described, { references, result, merge }: Merge): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('', {
      schema: {
        ...{ ...described, tags: ['People'], profiles: ['full'] as const, params: Type.Object({ id: t.Id }) },
        ...{ querystring: DryRunQuery, body: MergeBody, response: responses.ok(result) },
      },
      config: { refusesUnknown: true, idempotency: {}, references },
      handler: (request) =>
        merge(request.ctx, request.params.id, { into: request.body.into, dry_run: isDryRun(request) }),
    });
  };

export const courseUserMergeRoutes = mergeRoutes(
  {
    ...{ operationId: 'mergeCourseUser', summary: 'Merge a course user into another one', item: 'Course user' },
    description:
      'Participants, with their orders and attendance, follow; two places on one date stay two. Sessions, links and ' +
      'the password of the merged one end, and it is gone. `into` keeps its own fields.',
  },
  { references: courseUserMergeReferences, result: CourseUserMerge, merge: mergeCourseUser },
);

export const customerMergeRoutes = mergeRoutes(
  {
    ...{ operationId: 'mergeCustomer', summary: 'Merge a customer into another one', item: 'Customer' },
    description:
      'Employees, child customers, corporate courses, agreements and orders follow; the merged customer is gone. ' +
      '`into` keeps its own fields.',
  },
  { references: customerMergeReferences, result: CustomerMerge, merge: mergeCustomer },
);
