import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, created, linkNext, ListOrEnvelope, pagedList, toEnvelope } from '../../http/answers.ts';
import { ownItems } from '../../lists/reach.ts';
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
      ...pagedList,
    },
    async (request, reply) => {
      const { ctx, query } = request;
      const { page, total, reach } = await listCourses(ctx, query);
      if (query.paginate) return toEnvelope(page, await total());
      linkNext(request, reply, page, reach === ownItems ? 'since_id' : 'page');
      return page.items;
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
