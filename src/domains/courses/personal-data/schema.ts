import { courseInterests } from '../../../database/tables/interests.ts';
import { deleted, entry, isOwnEmail } from '../../../lists/personal-data.ts';

export const ofCourses = {
  // By the address alone: an interest has no person.
  interests: entry(courseInterests, isOwnEmail('email'), {
    ...{ ...deleted, count: ['interests'] },
    show: ['ExportedInterest', { without: 'linkHash earlierHashes linkMailId' }],
  }),
};
