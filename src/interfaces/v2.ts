import type { FastifyPluginAsync } from 'fastify';
import { authenticate, type Services } from '../http/auth/authenticate.ts';
import { checkProfiles } from '../http/auth/profiles.ts';
import { limitPublishableByAddress, limitRate } from '../http/auth/rate-limit.ts';
import { methodNotAllowed } from '../http/errors/method-not-allowed.ts';
import { registerErrorHandler, formatV2Error } from '../http/errors/error-handler.ts';
import { checkIdempotencyKeys } from '../http/idempotency.ts';
import { allowOrigins, checkOrigins } from '../http/publishable/cors.ts';
import { addPublicSerializers } from '../http/publishable/serializer.ts';
import { decorateCreated } from '../http/responses.ts';
import { decorateSpreadsheets } from '../http/spreadsheets.ts';
import { coerceRequests } from '../http/parsing/request-coercion.ts';
import { adminUserRoutes, appUserRoutes, roleRoutes } from '../resources/admin-users/routes.ts';
import { signOnRoutes, whoAmIRoutes } from '../resources/auth/routes.ts';
import { bookingRoutes } from '../resources/booking/routes.ts';
import { bookingSummaryRoutes } from '../resources/booking-summary/routes.ts';
import { campaignRoutes, campaignValidationRoutes } from '../resources/campaigns/routes.ts';
import { changeRoutes } from '../resources/changes/routes.ts';
import { courseDateEditingRoutes } from '../resources/coursedate-editing/routes.ts';
import {
  batchCourseDateRoutes,
  courseDateRoutes,
  datesOfCourseRoutes,
  nextCourseDateRoutes,
} from '../resources/coursedates/routes.ts';
import { courseItemEditingRoutes, newCourseRoutes } from '../resources/course-editing/routes.ts';
import { courseItemRoutes, courseRoutes } from '../resources/courses/routes.ts';
import { courseUserEditingRoutes } from '../resources/course-user-editing/routes.ts';
import { customerRoutes } from '../resources/customers/routes.ts';
import { durationRoutes } from '../resources/durations/routes.ts';
import { erasureRoutes } from '../resources/erasures/routes.ts';
import { instructorRoutes } from '../resources/instructors/routes.ts';
import { locationRoutes } from '../resources/locations/routes.ts';
import { courseUserMergeRoutes, customerMergeRoutes } from '../resources/merges/routes.ts';
import { orderProductRoutes } from '../resources/products/routes.ts';
import { orderRoutes } from '../resources/orders/routes.ts';
import { participantEditingRoutes } from '../resources/participant-editing/routes.ts';
import { participantRoutes } from '../resources/participants/routes.ts';
import { personExportRoutes } from '../resources/person-export/routes.ts';
import { schoolRoutes } from '../resources/schools/routes.ts';
import { tagRoutes } from '../resources/tags/routes.ts';
import { courseUserRoutes, employeeRoutes, searchUserRoutes } from '../resources/users/routes.ts';
import { voucherRoutes, voucherValidationRoutes } from '../resources/vouchers/routes.ts';
import { webhookRoutes } from '../resources/webhooks/routes.ts';

/** The current interface: every route group with its prefix. */
export const v2: FastifyPluginAsync<Services> = async (app, services) => {
  registerErrorHandler(app, formatV2Error);
  authenticate(app, services);
  allowOrigins(app);
  checkOrigins(app);
  limitPublishableByAddress(app, services.addressBuckets);
  limitRate(app, services.buckets);
  checkProfiles(app);
  coerceRequests(app);
  checkIdempotencyKeys(app);
  addPublicSerializers(app);
  decorateSpreadsheets(app, services);
  decorateCreated(app);
  const addMethodNotAllowed = methodNotAllowed(app);

  await app.register(courseRoutes, { prefix: '/courses' });
  await app.register(newCourseRoutes, { prefix: '/courses' });
  await app.register(courseItemRoutes, { prefix: '/courses/:id' });
  await app.register(courseItemEditingRoutes, { prefix: '/courses/:id' });
  await app.register(courseDateRoutes, { prefix: '/coursedates' });
  await app.register(datesOfCourseRoutes, { prefix: '/courses/:course_id/coursedates' });
  await app.register(courseDateEditingRoutes, { prefix: '/courses/:course_id/coursedates' });
  await app.register(batchCourseDateRoutes, { prefix: '/batch/coursedates' });
  await app.register(nextCourseDateRoutes, { prefix: '/nextcoursedates' });
  await app.register(locationRoutes, { prefix: '/locations' });
  await app.register(instructorRoutes, { prefix: '/instructors' });
  await app.register(tagRoutes, { prefix: '/course-tags' });
  await app.register(durationRoutes, { prefix: '/durations' });
  await app.register(schoolRoutes, { prefix: '/schools' });
  await app.register(orderRoutes, { prefix: '/orders' });
  await app.register(orderProductRoutes, { prefix: '/orders/products' });
  await app.register(participantRoutes, { prefix: '/participants' });
  await app.register(participantEditingRoutes, { prefix: '/participants' });
  await app.register(bookingRoutes, { prefix: '/booking' });
  await app.register(bookingSummaryRoutes, { prefix: '/booking/:id' });
  await app.register(campaignRoutes, { prefix: '/campaigns' });
  await app.register(campaignValidationRoutes, { prefix: '/campaigns/validate' });
  await app.register(voucherRoutes, { prefix: '/vouchers' });
  await app.register(voucherValidationRoutes, { prefix: '/vouchers/validate' });
  await app.register(customerRoutes, { prefix: '/customers' });
  await app.register(employeeRoutes, { prefix: '/customers/:id/employees' });
  await app.register(courseUserRoutes, { prefix: '/course-users' });
  await app.register(courseUserEditingRoutes, { prefix: '/course-users' });
  await app.register(personExportRoutes, { prefix: '/course-users/:id/export' });
  await app.register(erasureRoutes, { prefix: '/course-users/:id/erase' });
  await app.register(courseUserMergeRoutes, { prefix: '/course-users/:id/merge' });
  await app.register(customerMergeRoutes, { prefix: '/customers/:id/merge' });
  await app.register(searchUserRoutes, { prefix: '/search-users' });
  await app.register(signOnRoutes, { prefix: '/check-user-credentials' });
  await app.register(changeRoutes, { prefix: '/changes' });
  await app.register(webhookRoutes, { prefix: '/webhooks' });
  await app.register(adminUserRoutes, { prefix: '/admin-users' });
  await app.register(roleRoutes, { prefix: '/admin-roles' });
  await app.register(appUserRoutes, { prefix: '/app-users' });
  const { findRate, version } = services;
  await app.register(whoAmIRoutes, { prefix: '/whoami', findRate, version });

  addMethodNotAllowed();
};
