import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type, type TProperties } from '@sinclair/typebox';
import { LegacyCourseBody } from '../resources/courses/body-schema.ts';
import { createCourse } from '../resources/courses/service.ts';
import { LegacySchool, SchoolBody } from '../resources/schools/schema.ts';
import { createSubSchool, getSchool } from '../resources/schools/service.ts';

const failureStatus = Type.String({ examples: ['failure'] });

/** Response schemas: an envelope with a status; ids are text. */
const responses = <P extends TProperties>(properties: P) => ({
  200: Type.Object({ status: Type.String({ examples: ['success'] }), ...properties }),
  401: Type.Object({ status: failureStatus, message: Type.String({ examples: ['Wrong API Key'] }) }),
  '4xx': Type.Object({ status: failureStatus, error: Type.String() }),
  '5xx': Type.Object({ status: failureStatus, error: Type.String() }),
});
const success = <T extends object>(properties: T) => ({ status: 'success', ...properties });

export const legacySchoolRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: "The school's own record",
        tags: ['Older interface'],
        response: responses({ school: LegacySchool }),
      },
    },
    async ({ ctx }) => success({ school: await getSchool(ctx) }),
  );

  app.post(
    '',
    {
      schema: {
        summary: 'Add a sub-school',
        description: 'A new school connected to the calling one, with a key of its own, which is shown once.',
        tags: ['Older interface'],
        body: SchoolBody,
        response: responses({ school_id: Type.String(), api_key: Type.String() }),
      },
    },
    async ({ ctx, body }) => {
      const { providerId, apiKey } = await createSubSchool(ctx, body);
      return success({ school_id: String(providerId), api_key: apiKey });
    },
  );
};

export const legacyCourseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '',
    {
      schema: {
        summary: 'Create a course',
        description: 'As POST /v2/courses, without tags, labels and the external addresses, which are ignored.',
        tags: ['Older interface'],
        body: LegacyCourseBody,
        response: responses({ course_id: Type.String() }),
      },
    },
    async ({ ctx, body }) => success({ course_id: String(await createCourse(ctx, body)) }),
  );
};
