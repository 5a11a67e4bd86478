import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, Envelope, revalidatedUnless, sendEnvelope, sendItems } from '../../http/answers.ts';
import { courseDateList, nextCourseDateList } from './query.ts';
import { listCourseDates, listNextCourseDates } from './service.ts';

const tags = ['Course dates'];
const CourseDates = Envelope(courseDateList.View);

/** `now`, and whether a gathering is still to come. */
const dependsOnTheClock = ({ include, ...query }: Record<string, unknown>) =>
  (Array.isArray(include) && include.includes('gatherings')) ||
  ['start_date_at_min', 'start_date_at_max', 'end_date_at_min', 'end_date_at_max'].some(
    (name) => query[name] === 'now',
  );

export const courseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List course dates',
        description: 'Always the envelope with `pagination` and `items`.',
        tags,
        querystring: courseDateList.Query,
        response: answers(CourseDates),
      },
      ...revalidatedUnless(dependsOnTheClock),
    },
    async (request, reply) => sendEnvelope(request, reply, await listCourseDates(request.ctx, request.query)),
  );
};

export const nextCourseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List the next course dates',
        description:
          'By start, from today on: visible, not canceled, of an active course. Course, location, place, gatherings, ' +
          'teaching language and status are embedded without being asked for.',
        tags,
        querystring: nextCourseDateList.Query,
        response: answers(Type.Array(nextCourseDateList.View)),
      },
    },
    async (request, reply) => sendItems(request, reply, await listNextCourseDates(request.ctx, request.query)),
  );
};
