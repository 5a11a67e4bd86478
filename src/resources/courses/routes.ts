import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, created, ListOrEnvelope, revalidated, sendEnvelope, sendItems } from '../../http/answers.ts';
import { CourseBody } from './body.ts';
import { courseList } from './query.ts';
import { createCourse, listCourses } from './service.ts';

export const courseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List courses',
        description: 'An array, or with `paginate=true` the envelope with `pagination` and `items`.',
        tags: ['Courses'],
        querystring: courseList.Query,
        response: answers(ListOrEnvelope(courseList.View)),
      },
      ...revalidated,
    },
    async (request, reply) => {
      const page = await listCourses(request.ctx, request.query);
      return request.query.paginate ? sendEnvelope(request, reply, page) : sendItems(request, reply, page);
    },
  );

  app.post(
    '',
    {
      schema: {
        summary: 'Create a course',
        description: 'An active course with an equal title is an error. Staff categorize the course later.',
        tags: ['Courses'],
        body: CourseBody,
        response: created(Type.Object({ course_id: Type.Integer() })),
      },
    },
    async ({ ctx, body }, reply) => reply.code(201).send({ course_id: await createCourse(ctx, body) }),
  );
};
