import { eq, sql } from 'drizzle-orm';
import { participantStatuses } from '../../../core/reference/participant-statuses.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { attendanceMarks, attendances, participants } from '../../../database/tables/participants.ts';
import { entry, erasedText, isOfPerson, isPlace } from '../../../lists/personal-data.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { paidStates } from '../participants/schema.ts';

export const ofParticipants = {
  participants: entry(participants, isOfPerson, {
    ...{ erase: {}, merge: ['userId'], count: ['participants'] },
    show: [
      'ExportedParticipant',
      {
        words: {
          status: ({ statusId }, language) => participantStatuses.get(Number(statusId))!.title[language],
          paid: ({ paidId }, language) => paidStates.get(Number(paidId))![language],
          course: sql`(select ${courses.title} from ${courses}
            where ${sameTenant(courses, participants, eq(courses.id, participants.courseId))})`,
          start_at: sql`(select ${courseDates.startAt} from ${courseDates}
            where ${sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId))})`,
        },
      },
    ],
  }),
  attendances: entry(attendances, isPlace, {
    ...{ count: ['attendances'], show: ['ExportedAttendance', { order: 'participantId gatheringId' }] },
  }),
  attendance_marks: entry(attendanceMarks, isPlace, {
    erase: { nonce: erasedText() },
    show: ['ExportedAttendanceMark'],
  }),
};
