import { cancellationJob } from './domains/bookings/date-changes/cancellation-service.ts';
import { dueHoldsJob } from './domains/bookings/seat-assignment/promotion-service.ts';
import { interestJob } from './domains/courses/interests/service.ts';
import { reminderJob } from './domains/messages/mails/queue-service.ts';
import { minimumJob } from './domains/messages/notices/service.ts';
import { completionJob } from './domains/participants/attendance/service.ts';
import { erasureJob } from './domains/records/erasures/service.ts';

/** The periodic work of the domains, in the order in which a server starts it. */
export const domainJobs = [
  erasureJob,
  dueHoldsJob,
  completionJob,
  cancellationJob,
  minimumJob,
  reminderJob,
  interestJob,
];
