import { courseInterests } from '../../../database/tables/interests.ts';
import { deleted, entry, isInterest } from '../../../lists/personal-data.ts';

export const ofCourses = {
  interests: entry(courseInterests, isInterest('course_interests'), {
    ...{ ...deleted, count: ['interests'] },
    show: ['ExportedInterest', { without: 'linkHash earlierHashes linkMailId' }],
  }),
};
