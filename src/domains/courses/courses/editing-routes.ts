import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { units } from '../../../core/reference/courses.ts';
import { t } from '../../../core/schema/types.ts';
import { toKey, type ReadForms } from '../../../http/parsing/read-forms.ts';
import { responses } from '../../../http/responses.ts';
import { CourseReference, descriptionMembers } from './schema.ts';
import { CourseBody, CourseChange } from './body-schema.ts';
import { courseReferences, createCourse, updateCourse } from './editing-service.ts';

const tags = ['Courses'];
const params = Type.Object({ id: t.Id });

const readForms: ReadForms = {
  active: ['is_active'],
  level: ['level.id'],
  form_of_teaching: ['form_of_teaching.id'],
  teaching_language: ['teaching_language.id'],
  time_of_day: ['time_of_day.id'],
  duration_value: ['duration.value'],
  duration_unit: [['duration.code', toKey([...units].map(([id, { code }]) => [id, code]))]],
  price_value: ['price.value'],
  price_currency: ['price.currency'],
  price_comment: ['price.comment'],
  email_booking: ['lead_settings.email_booking'],
  email_more_info: ['lead_settings.email_more_info'],
  ...Object.fromEntries(
    Object.keys(descriptionMembers).map((name) => [
      `text_${name === 'hotelInfo' ? 'hotel_info' : name}`,
      [`descriptions.${name}`],
    ]),
  ),
};

export const newCourseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'createCourse',
      summary: 'Create a course',
      description: 'An active course with an equal title is an error. Staff assign categories later.',
      tags,
      profiles: ['full'],
      body: CourseBody,
      response: responses.created(CourseReference),
    },
    config: { idempotency: {}, references: courseReferences },
    handler: async ({ ctx, body }, reply) => {
      const id = await createCourse(ctx, body);
      return reply.created(id, { course_id: id });
    },
  });
};

export const courseItemEditingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.put('', {
    schema: {
      operationId: 'updateCourse',
      summary: 'Update a course',
      description: 'Only the fields sent change, of the main product too. An equal title is an error here too.',
      tags,
      profiles: ['full'],
      item: 'Course',
      params,
      body: CourseChange,
      response: responses.ok(CourseReference),
    },
    config: { readForms, references: courseReferences },
    handler: async ({ ctx, params, body }) => ({ course_id: await updateCourse(ctx, params.id, body) }),
  });
};
