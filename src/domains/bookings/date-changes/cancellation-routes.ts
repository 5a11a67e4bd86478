import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { CancellationBody } from './cancellation-body-schema.ts';
import { Cancellation } from './schema.ts';
import { cancelCourseDate } from './cancellation-service.ts';

const params = Type.Object({ course_id: t.Id, id: { ...t.Id, description: 'Id of the course date' } });

export const cancellationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'cancelCourseDate',
      summary: 'Cancel a course date',
      description:
        'Credits or moves its participants, and tells them. A repeated request continues what was interrupted.',
      tags: ['Course dates'],
      profiles: ['full'],
      item: 'Course date',
      params,
      querystring: DryRunQuery,
      body: CancellationBody,
      response: responses.ok(Cancellation),
    },
    config: { refusesUnknown: true },
    handler: (request) => {
      const { ctx, params, body } = request;
      return cancelCourseDate(ctx, params.course_id, params.id, { ...body, dry_run: isDryRun(request) });
    },
  });
};
