import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, created, ListOrEnvelope, revalidated, sendPage } from '../../http/answers.ts';
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
    async (request, reply) => sendPage(request, reply, await listCourses(request.ctx, request.query)),
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
