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
import { adminUserRoutes, appUserRoutes, roleRoutes } from '../domains/school/admin-users/routes.ts';
import { attendanceRoutes } from '../domains/participants/attendance/routes.ts';
import { signOnRoutes, whoAmIRoutes } from '../domains/school/auth/routes.ts';
import { batchBookingRoutes, bookingRoutes, bookingSummaryRoutes } from '../domains/bookings/booking/routes.ts';
import { bookingSettingsRoutes } from '../domains/school/booking-settings/routes.ts';
import { campaignRoutes, campaignValidationRoutes } from '../domains/orders/campaigns/routes.ts';
import { changeRoutes } from '../domains/records/changes/routes.ts';
import { courseDateEditingRoutes, courseDeletionRoutes } from '../domains/bookings/date-changes/routes.ts';
import {
  batchCourseDateRoutes,
  courseDateRoutes,
  datesOfCourseRoutes,
  nextCourseDateRoutes,
} from '../domains/courses/coursedates/routes.ts';
import { courseRoutes, durationRoutes } from '../domains/courses/courses/routes.ts';
import { creditRoutes } from '../domains/bookings/credit-requests/routes.ts';
import { customerRoutes } from '../domains/people/customer-list/routes.ts';
import {
  deregistrationRoutes,
  moveRoutes,
  participantEditingRoutes,
} from '../domains/bookings/participant-changes/routes.ts';
import { erasureRoutes } from '../domains/records/erasures/routes.ts';
import { instructorRoutes } from '../domains/courses/instructors/routes.ts';
import { linkRoutes } from '../domains/messages/links/routes.ts';
import { locationRoutes } from '../domains/courses/locations/routes.ts';
import { courseUserMergeRoutes, customerMergeRoutes } from '../domains/records/merges/routes.ts';
import { orderProductRoutes } from '../domains/courses/products/routes.ts';
import { orderRoutes } from '../domains/orders/orders/routes.ts';
import { participantRoutes } from '../domains/participants/participants/routes.ts';
import { orderPaymentRoutes, paymentRoutes } from '../domains/orders/payments/routes.ts';
import { personExportRoutes } from '../domains/records/person-export/routes.ts';
import { schoolRoutes } from '../domains/school/schools/routes.ts';
import { tagRoutes } from '../domains/courses/tags/routes.ts';
import { courseUserRoutes, employeeRoutes, searchUserRoutes } from '../domains/people/users/routes.ts';
import { voucherRoutes, voucherValidationRoutes } from '../domains/orders/vouchers/routes.ts';
import type { OperationGroup } from './plugin/define-plugin.ts';

/** The current interface: every route group with its prefix, and `groups` of plugins. */
export const v2: FastifyPluginAsync<Services & { groups: OperationGroup[] }> = async (app, services) => {
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
  await app.register(courseDeletionRoutes, { prefix: '/courses/:id' });
  await app.register(courseDateRoutes, { prefix: '/coursedates' });
  await app.register(attendanceRoutes, { prefix: '/coursedates/:id/attendance' });
  await app.register(datesOfCourseRoutes, { prefix: '/courses/:course_id/coursedates' });
  await app.register(courseDateEditingRoutes, { prefix: '/courses/:course_id/coursedates' });
  await app.register(batchCourseDateRoutes, { prefix: '/batch/coursedates' });
  await app.register(nextCourseDateRoutes, { prefix: '/nextcoursedates' });
  await app.register(locationRoutes, { prefix: '/locations' });
  await app.register(instructorRoutes, { prefix: '/instructors' });
  await app.register(tagRoutes, { prefix: '/course-tags' });
  await app.register(durationRoutes, { prefix: '/durations' });
  await app.register(schoolRoutes, { prefix: '/schools' });
  await app.register(bookingSettingsRoutes, { prefix: '/booking-settings' });
  await app.register(orderRoutes, { prefix: '/orders' });
  await app.register(orderPaymentRoutes, { prefix: '/orders/:id/payments' });
  await app.register(creditRoutes, { prefix: '/orders/:id/credit' });
  await app.register(paymentRoutes, { prefix: '/payments' });
  await app.register(orderProductRoutes, { prefix: '/orders/products' });
  await app.register(participantRoutes, { prefix: '/participants' });
  await app.register(participantEditingRoutes, { prefix: '/participants' });
  await app.register(moveRoutes, { prefix: '/participants/:id/move' });
  await app.register(bookingRoutes, { prefix: '/booking' });
  await app.register(deregistrationRoutes, { prefix: '/booking/:id/deregister' });
  await app.register(batchBookingRoutes, { prefix: '/batch/booking' });
  await app.register(bookingSummaryRoutes, { prefix: '/booking/:id' });
  await app.register(linkRoutes, { prefix: '/booking/:id/link' });
  await app.register(campaignRoutes, { prefix: '/campaigns' });
  await app.register(campaignValidationRoutes, { prefix: '/campaigns/validate' });
  await app.register(voucherRoutes, { prefix: '/vouchers' });
  await app.register(voucherValidationRoutes, { prefix: '/vouchers/validate' });
  await app.register(customerRoutes, { prefix: '/customers' });
  await app.register(employeeRoutes, { prefix: '/customers/:id/employees' });
  await app.register(courseUserRoutes, { prefix: '/course-users' });
  await app.register(personExportRoutes, { prefix: '/course-users/:id/export' });
  await app.register(erasureRoutes, { prefix: '/course-users/:id/erase' });
  await app.register(courseUserMergeRoutes, { prefix: '/course-users/:id/merge' });
  await app.register(customerMergeRoutes, { prefix: '/customers/:id/merge' });
  await app.register(searchUserRoutes, { prefix: '/search-users' });
  await app.register(signOnRoutes, { prefix: '/check-user-credentials' });
  await app.register(changeRoutes, { prefix: '/changes' });
  for (const { routes, prefix } of services.groups) await app.register(routes, { prefix });
  await app.register(adminUserRoutes, { prefix: '/admin-users' });
  await app.register(roleRoutes, { prefix: '/admin-roles' });
  await app.register(appUserRoutes, { prefix: '/app-users' });
  const { findRate, version } = services;
  await app.register(whoAmIRoutes, { prefix: '/whoami', findRate, version });

  addMethodNotAllowed();
};
