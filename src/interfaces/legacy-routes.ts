import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type, type TProperties } from '@sinclair/typebox';
import { t } from '../core/schema/types.ts';
import { LegacyCourseBody } from '../domains/courses/courses/body-schema.ts';
import { createCourse } from '../domains/courses/courses/editing-service.ts';
import { SchoolBody } from '../domains/school/schools/body-schema.ts';
import { LegacySchool } from '../domains/school/schools/schema.ts';
import { createSubSchool, getSchool } from '../domains/school/schools/service.ts';

const failureStatus = Type.String({ examples: ['failure'] });

const LegacyError = t.NamedObject('LegacyError', { status: failureStatus, error: Type.String() });
const LegacyUnauthorized = t.NamedObject('LegacyUnauthorized', {
  status: failureStatus,
  message: Type.String({ examples: ['Wrong API Key'] }),
});

/** Response schemas: an envelope with a status; ids are text. */
const responses = <P extends TProperties>(name: string, properties: P) => ({
  200: t.NamedObject(name, { status: Type.String({ examples: ['success'] }), ...properties }),
  401: LegacyUnauthorized,
  '4xx': LegacyError,
  '5xx': LegacyError,
});
const success = <T extends object>(properties: T) => ({ status: 'success', ...properties });

export const legacySchoolRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'getLegacySchool',
        summary: 'Get the school (older interface)',
        description: 'As GET /v2/schools, in the older envelope.',
        tags: ['Older interface'],
        profiles: ['full', 'read', 'booking'],
        item: 'School',
        response: responses('LegacySchoolResult', { school: LegacySchool }),
      },
    },
    async ({ ctx }) => success({ school: await getSchool(ctx) }),
  );

  app.post(
    '',
    {
      schema: {
        operationId: 'createSubSchool',
        summary: 'Add a sub-school',
        description:
          'A new school connected to the calling one, with its own API key, which is shown only in this response.',
        tags: ['Older interface'],
        profiles: ['full'],
        body: SchoolBody,
        response: responses('LegacySchoolCreated', { school_id: Type.String(), api_key: Type.String() }),
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
        operationId: 'createLegacyCourse',
        summary: 'Create a course (older interface)',
        description: 'As POST /v2/courses; tags, labels and external addresses are ignored.',
        tags: ['Older interface'],
        profiles: ['full'],
        body: LegacyCourseBody,
        response: responses('LegacyCourseCreated', { course_id: Type.String() }),
      },
    },
    async ({ ctx, body }) => success({ course_id: String(await createCourse(ctx, body)) }),
  );
};
