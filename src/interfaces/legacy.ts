import type { FastifyPluginAsync } from 'fastify';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type, type TProperties } from '@sinclair/typebox';
import { authenticate, type Services } from '../http/auth/authenticate.ts';
import { checkProfiles } from '../http/auth/profiles.ts';
import { limitPublishableByAddress, limitRate } from '../http/auth/rate-limit.ts';
import { registerErrorFormat, formatLegacyError } from '../http/errors/error-handler.ts';
import { methodNotAllowed } from '../http/errors/method-not-allowed.ts';
import { coerceRequests } from '../http/parsing/request-coercion.ts';
import { t } from '../core/schema/types.ts';
import { LegacyCourseBody } from '../domains/courses/courses/fields.ts';
import { createCourse } from '../domains/courses/courses/service.ts';
import { LegacySchool, SchoolBody } from '../domains/school/schools/fields.ts';
import { createSubSchool, getSchool } from '../domains/school/schools/service.ts';

/** The older interface, for clients that cannot change. It calls the same services as v2. */
export const legacy: FastifyPluginAsync<Services> = async (app, services) => {
  await app.register(mount(legacySchoolRoutes, services), { prefix: '/schools' });
  await app.register(mount(legacyCourseRoutes, services), { prefix: '/courses' });
};

/** Each prefix needs an error handler of its own, since the interface has no common prefix. */
const mount =
  (routes: FastifyPluginAsync, services: Services): FastifyPluginAsync =>
  async (app) => {
    registerErrorFormat(app, formatLegacyError);
    authenticate(app, services);
    limitPublishableByAddress(app, services.addressBuckets);
    limitRate(app, services.buckets);
    checkProfiles(app);
    coerceRequests(app);
    const addMethodNotAllowed = methodNotAllowed(app);
    await app.register(routes);
    addMethodNotAllowed();
  };

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

const legacySchoolRoutes: FastifyPluginAsyncTypebox = async (app) => {
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

const legacyCourseRoutes: FastifyPluginAsyncTypebox = async (app) => {
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
