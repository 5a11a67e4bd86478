import type { FastifyPluginAsync } from 'fastify';
import { authenticate, type Services } from '../http/auth/authenticate.ts';
import { checkProfiles } from '../http/auth/profiles.ts';
import { limitPublishableByAddress, limitRate } from '../http/auth/rate-limit.ts';
import { registerErrorFormat, formatLegacyError } from '../http/errors/error-handler.ts';
import { methodNotAllowed } from '../http/errors/method-not-allowed.ts';
import { coerceRequests } from '../http/parsing/request-coercion.ts';
import { legacyCourseRoutes, legacySchoolRoutes } from './legacy-routes.ts';

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
