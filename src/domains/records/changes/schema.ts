import { Type, type TObject } from '@sinclair/typebox';
import { t, isPrivate } from '../../../core/schema/types.ts';
import { EventResource, EventType } from '../../../database/record-events.ts';
import type { eventResources } from '../../../database/tables/events.ts';
import { CourseDate } from '../../courses/coursedates/fields.ts';
import { Course } from '../../courses/courses/fields.ts';
import { Instructor } from '../../courses/instructors/fields.ts';
import { Location } from '../../courses/locations/fields.ts';
import { Tag } from '../../courses/tags/fields.ts';
import { Campaign } from '../../orders/campaigns/fields.ts';
import { Order } from '../../orders/orders/fields.ts';
import { Payment } from '../../orders/payments/schema.ts';
import { Participant } from '../../participants/participants/schema.ts';
import { Customer } from '../../people/customers/fields.ts';
import { CourseUser } from '../../people/users/fields.ts';
import { School } from '../../school/schools/fields.ts';

/** Maximum number of changes per response. */
export const maxLimit = 1_000;

export const Change = t.NamedObject(
  'Change',
  t.member.closed.all({
    id: Type.Integer({ description: 'Increases with each change of the school' }),
    type: EventType,
    resource: EventResource,
    resource_id: t.Nullable(Type.Integer({ description: 'Null for a resync: read all items of the resource again' })),
    at: Type.String({ format: 'date-time', description: 'Equal for all changes of one write' }),
    into: Type.Optional(Type.Integer({ description: 'Of a merge alone: the id of the item that stays' })),
  }),
);

export const Gone = t.NamedObject(
  'Gone',
  t.member.closed.all({
    error: Type.String(),
    code: t.OneOf(['read_everything_again'], { description: 'The copy may lack changes: read everything again' }),
  }),
);

export const Changes = t.NamedObject(
  'Changes',
  t.member.closed.all({
    items: Type.Array(Change),
    cursor: Type.String({ description: 'The `since` of the next request', examples: ['MS4yNS4xNzg1MTM1NjAwMDAwMDAw'] }),
    has_more: Type.Boolean({ description: 'There are changes after the cursor already' }),
  }),
);

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
