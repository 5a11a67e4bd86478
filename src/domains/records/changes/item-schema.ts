import type { TObject } from '@sinclair/typebox';
import { isPrivate } from '../../../core/schema/types.ts';
import type { eventResources } from '../../../database/tables/events.ts';
import { Campaign } from '../../orders/campaigns/schema.ts';
import { CourseDate } from '../../courses/coursedates/schema.ts';
import { Course } from '../../courses/courses/schema.ts';
import { Customer } from '../../people/customers/schema.ts';
import { Instructor } from '../../courses/instructors/schema.ts';
import { Location } from '../../courses/locations/schema.ts';
import { Order } from '../../orders/orders/schema.ts';
import { Participant } from '../../participants/participants/schema.ts';
import { Payment } from '../../orders/payments/schema.ts';
import { School } from '../../school/schools/schema.ts';
import { Tag } from '../../courses/tags/schema.ts';
import { CourseUser } from '../../people/users/schema.ts';

/** The items of resources whose changes leave events; messages of bookings have no item. */
const items: Record<Exclude<(typeof eventResources)[number], 'booking'>, TObject> = {
  course: Course,
  coursedate: CourseDate,
  participant: Participant,
  offer: Participant,
  order: Order,
  payment: Payment,
  customer: Customer,
  courseuser: CourseUser,
  instructor: Instructor,
  location: Location,
  campaign: Campaign,
  tag: Tag,
  school: School,
};

/** Resources whose items have members with personal data that is not public. */
export const personalResources = Object.entries(items)
  .filter(([, { properties }]) => Object.values(properties).some(isPrivate))
  .map(([resource]) => resource);
