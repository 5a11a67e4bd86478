import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type, type TProperties } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { authenticate, type Services } from '../http/auth/authenticate.ts';
import { methodNotAllowed } from '../http/errors/method-not-allowed.ts';
import { registerErrorHandler, formatLegacyError } from '../http/errors/error-handler.ts';
import { coerceRequests } from '../http/parsing/request-coercion.ts';
import { LegacyCourseBody } from '../resources/courses/body-schema.ts';
import { createCourse } from '../resources/courses/service.ts';
import { LegacySchool, SchoolBody } from '../resources/schools/schema.ts';
import { createSubSchool, getSchool } from '../resources/schools/service.ts';

/** The older interface, for clients that never change: the same services in an envelope with a status, ids as text. */
const said = <P extends TProperties>(members: P) => ({
  200: Type.Object({ status: Type.String({ examples: ['success'] }), ...members }),
  401: Type.Object({
    status: Type.String({ examples: ['failure'] }),
    message: Type.String({ examples: ['Wrong API Key'] }),
  }),
  '4xx': Type.Object({
    status: Type.String({ examples: ['failure'] }),
    error: Type.String(),
  }),
  '5xx': Type.Object({
    status: Type.String({ examples: ['failure'] }),
    error: Type.String(),
  }),
});
const success = <T extends object>(members: T) => ({ status: 'success', ...members });

const guard = (app: FastifyInstance, services: Services) => {
  registerErrorHandler(app, formatLegacyError);
  authenticate(app, services);
  coerceRequests(app);
};

export const legacySchools: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  guard(app, services);
  const methodNotAllowedOptions = methodNotAllowed(app);

  app.get(
    '',
    {
      schema: {
        summary: "The school's own record",
        tags: ['Older interface'],
        response: said({ school: LegacySchool }),
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
        response: said({ school_id: Type.String(), api_key: Type.String() }),
      },
    },
    async ({ ctx, body }) => {
      const { providerId, apiKey } = await createSubSchool(ctx, body);
      return success({ school_id: String(providerId), api_key: apiKey });
    },
  );

  methodNotAllowedOptions();
};

export const legacyCourses: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  guard(app, services);
  const methodNotAllowedOptions = methodNotAllowed(app);

  app.post(
    '',
    {
      schema: {
        summary: 'Create a course',
        description: 'As POST /v2/courses, without tags, labels and the external addresses, which are ignored.',
        tags: ['Older interface'],
        body: LegacyCourseBody,
        response: said({ course_id: Type.String() }),
      },
    },
    async ({ ctx, body }) => success({ course_id: String(await createCourse(ctx, body)) }),
  );

  methodNotAllowedOptions();
};
