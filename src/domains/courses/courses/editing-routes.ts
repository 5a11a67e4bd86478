import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { CourseReference, descriptionMembers } from './schema.ts';
import { CourseBody, CourseChange } from './body-schema.ts';
import { courseReferences, createCourse, readCourse, updateCourse } from './editing-service.ts';

const tags = ['Courses'];
const params = Type.Object({ id: t.Id });

const textInputs: Record<string, string> = Object.fromEntries(
  Object.keys(descriptionMembers).map((name) => [
    `descriptions.${name}`,
    `text_${name === 'hotelInfo' ? 'hotel_info' : name}`,
  ]),
);
const readBack = {
  read: readCourse,
  inputs: {
    is_active: 'active',
    level: 'level',
    form_of_teaching: 'form_of_teaching',
    teaching_language: 'teaching_language',
    time_of_day: 'time_of_day',
    'duration.value': 'duration_value',
    'duration.code': 'duration_unit',
    'duration.unit': 'duration_unit',
    'price.value': 'price_value',
    'price.currency': 'price_currency',
    'price.comment': 'price_comment',
    'lead_settings.email_booking': 'email_booking',
    'lead_settings.email_more_info': 'email_more_info',
    ...textInputs,
  },
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
    config: { readBack, references: courseReferences },
    handler: async ({ ctx, params, body }) => ({ course_id: await updateCourse(ctx, params.id, body) }),
  });
};
