import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { CourseReference } from '../../courses/courses/schema.ts';
import { CourseDateBody, CourseDateChange, inputAliases } from '../../courses/coursedates/fields.ts';
import { CancellationBody } from './body-schema.ts';
import { cancelCourseDate } from './cancellation-service.ts';
import { deleteCourse } from './deletion-service.ts';
import {
  courseDateErrors,
  courseDateReferences,
  createCourseDate,
  deleteCourseDate,
  updateCourseDate,
} from './editing-service.ts';
import { CourseDateWritten, Cancellation } from './schema.ts';

const tags = ['Course dates'];
const CourseParams = Type.Object({ course_id: t.Id });
const CourseDateParams = Type.Object({ course_id: t.Id, id: { ...t.Id, description: 'Id of the course date' } });

export const courseDateEditingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'createCourseDate',
      summary: 'Create a course date',
      description: 'It ends after it starts, in its own time zone, and its deadline is not after its end.',
      tags,
      profiles: ['full'],
      item: 'Course',
      params: CourseParams,
      body: CourseDateBody,
      response: responses.created(CourseDateWritten),
    },
    config: { idempotency: {}, references: courseDateReferences, findBodyErrors: courseDateErrors },
    handler: async ({ ctx, params, body }, reply) => {
      const created = await createCourseDate(ctx, params.course_id, body);
      return reply.created(created.coursedate_id, created);
    },
  });

  app.put('/:id', {
    schema: {
      operationId: 'updateCourseDate',
      summary: 'Update a course date',
      description:
        'Only the fields sent change; `gatherings` replace the existing ones, `custom_properties` are merged.',
      tags,
      profiles: ['full'],
      item: 'Course',
      params: CourseDateParams,
      body: CourseDateChange,
      response: responses.ok(CourseDateWritten),
    },
    config: { inputAliases, references: courseDateReferences, findBodyErrors: courseDateErrors },
    handler: ({ ctx, params, body }) => updateCourseDate(ctx, params.course_id, params.id, body),
  });

  app.delete('/:id', {
    schema: {
      operationId: 'deleteCourseDate',
      summary: 'Delete a course date',
      description: 'Its child dates are deleted too. Refused while participants hold seats.',
      tags,
      profiles: ['full'],
      item: 'Course',
      params: CourseDateParams,
      response: responses.ok(CourseDateWritten),
    },
    handler: ({ ctx, params }) => deleteCourseDate(ctx, params.course_id, params.id),
  });

  app.post('/:id/cancel', {
    schema: {
      operationId: 'cancelCourseDate',
      summary: 'Cancel a course date',
      description:
        'Credits or moves its participants, and tells them. A repeated request continues what was interrupted.',
      tags,
      profiles: ['full'],
      item: 'Course date',
      params: CourseDateParams,
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
