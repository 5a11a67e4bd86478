import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

const merged = t.member.closed.all({
  id: Type.Integer({ description: 'The one that is gone' }),
  into: Type.Integer({ description: 'The one that stays' }),
  dry_run: Type.Boolean({ description: 'true: nothing has changed' }),
});
const count = (description: string) => Type.Integer({ description });

export const CourseUserMerge = t.NamedObject('CourseUserMerge', {
  ...merged,
  ...t.member.closed.all({
    participants: count('Participants that move'),
    orders: count('Orders of these'),
    attendances: count('Attendances of these'),
    sessions: count('Sessions that end'),
    links: count('Links of mails, sign-ons, offers and calendars that end'),
    coursedate_ids: Type.Optional(
      Type.Array(Type.Integer(), {
        description: 'Only of a dry run: course dates on which both have a place, 1,000 at most',
      }),
    ),
  }),
});

export const CustomerMerge = t.NamedObject('CustomerMerge', {
  ...merged,
  ...t.member.closed.all({
    employees: count('Course users that move'),
    customers: count('Customers whose parent it was'),
    courses: count('Corporate courses that move'),
    campaigns: count('Campaigns and agreements that name it'),
    orders: count('Orders that move'),
  }),
});
