import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { toParticipantDate } from './date-schema.ts';
import { fetchAttendances } from '../attendance/loaders.ts';
import { fetchBookings, fetchCourseDates, fetchCourses, fetchParticipants } from './loaders.ts';
import { includeAttendanceSummary } from '../attendance/serializer.ts';
import { includeCourseUser } from '../../people/users/serializer.ts';
import { Attendance, Hold, Participant, toParticipant, toParticipantCourse, type ParticipantRow } from './schema.ts';

const loadBooking = relation.required(
  relation.belongsTo(
    (row: ParticipantRow) => row.bookingId,
    fetchBookings,
    (booking) => booking,
  ),
);

const loadCourse = relation.required(
  relation.belongsTo((row: ParticipantRow) => row.courseId, fetchCourses, toParticipantCourse),
);

const loadDate = relation.required(
  relation.belongsTo((row: ParticipantRow) => row.courseDateId, fetchCourseDates, toParticipantDate),
);

const loadAttendance = relation.hasMany(fetchAttendances, (row) => ({
  gathering_id: row.gatheringId,
  attended: row.attended,
  registered_at: formatTimestamp(row.registeredAt),
}));

const relations = { booking: loadBooking, course: loadCourse, coursedate: loadDate };
const user = includeCourseUser((row: ParticipantRow) => row.userId);
const attendance = relation.include(t.member.personal(Type.Array(Attendance)), loadAttendance);
const hold = relation.include(
  t.member.personal(t.Nullable(Hold)),
  async () =>
    ({ heldUntil, heldFor }: ParticipantRow) =>
      heldFor === null ? null : { held_until: formatTimestamp(heldUntil), held_for: heldFor },
);

export const participantSerializer = defineSerializer<ParticipantRow>()({
  reads: ['people', 'money', 'dates', 'catalog'],
  responseSchema: Participant,
  relations,
  toResponse: toParticipant,
  includes: { user, attendance, attendance_summary: includeAttendanceSummary, hold },
  requiredIncludes: ['user'],
});

const embeddedParticipantSerializer = defineSerializer<ParticipantRow>()({
  reads: ['people', 'money', 'dates', 'catalog'],
  responseSchema: t.named('EmbeddedParticipant', Participant),
  relations,
  toResponse: toParticipant,
  includes: { user, hold },
  requiredIncludes: ['user'],
});

export const includeParticipant = relation.requiredIncluder(
  fetchParticipants,
  embeddedParticipantSerializer,
  t.member.personal,
);
