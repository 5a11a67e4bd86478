import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { CourseReference } from '../../courses/courses/schema.ts';
import { deleteCourse } from './deletion-service.ts';

export const courseDeletionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.delete('', {
    schema: {
      operationId: 'deleteCourse',
      summary: 'Delete a course',
      description: 'Its dates without participants are deleted too. Refused while an upcoming date has participants.',
      tags: ['Courses'],
      profiles: ['full'],
      item: 'Course',
      params: Type.Object({ id: t.Id }),
      response: responses.ok(CourseReference),
    },
    handler: async ({ ctx, params }) => ({ course_id: await deleteCourse(ctx, params.id) }),
  });
};
