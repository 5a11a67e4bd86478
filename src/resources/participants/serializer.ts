import { asc, eq, sql } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import { formatTimestamp } from '../../lib/timestamps.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { bookings } from '../../database/tables/orders.ts';
import { attendances, participants } from '../../database/tables/participants.ts';
import { locations, places } from '../../database/tables/places.ts';
import { batchLoader, type Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { locationColumns } from '../locations/schema.ts';
import { participantDateColumns, toParticipantDate, type ParticipantDateRow } from './date-schema.ts';
import { includeCourseUser } from '../users/serializer.ts';
import { Attendance, Participant, toParticipant, toParticipantCourse, type ParticipantRow } from './schema.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';

const loadBooking = relation.required(
  relation.belongsTo(
    (row: ParticipantRow) => row.bookingId,
    batchLoader((ctx, keys) =>
      ctx.db
        .select({
          id: bookings.id,
          orderId: bookings.orderId,
          bookerName: bookings.bookerName,
          bookerEmail: bookings.bookerEmail,
          bookerPhone: bookings.bookerPhone,
          bookerLanguageId: bookings.bookerLanguageId,
        })
        .from(bookings)
        .where(keys.match(bookings, bookings.id)),
    ),
    (booking) => booking,
  ),
);

const loadCourse = relation.required(
  relation.belongsTo(
    (row: ParticipantRow) => row.courseId,
    batchLoader((ctx, keys) =>
      ctx.db
        .select({
          id: courses.id,
          title: courses.title,
          reference: courses.reference,
          createdAt: courses.createdAt,
          updatedAt: courses.updatedAt,
        })
        .from(courses)
        .where(keys.match(courses, courses.id)),
    ),
    toParticipantCourse,
  ),
);

const loadDate = relation.required(
  relation.belongsTo(
    (row: ParticipantRow) => row.courseDateId,
    batchLoader((ctx, keys) =>
      ctx.db
        .select({
          id: courseDates.id,
          date: participantDateColumns,
          location: locationColumns,
          place: places.title,
          week: sql<number>`extract(week from ${courseDates.startAt})::int`,
          offset: sql<number>`extract(epoch from timezone(${courseDates.zone}, ${courseDates.startsAt}) - timezone('UTC', ${courseDates.startsAt}))::int`,
        })
        .from(courseDates)
        .leftJoin(locations, sameTenant(locations, courseDates, eq(locations.id, courseDates.locationId)))
        .leftJoin(places, eq(places.id, courseDates.placeId))
        .where(keys.match(courseDates, courseDates.id)),
    ),
    (row: ParticipantDateRow & { id: number }, ctx) => toParticipantDate(row, ctx),
  ),
);

const loadAttendance = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({
        ownerId: attendances.participantId,
        gatheringId: attendances.gatheringId,
        attended: attendances.attended,
        registeredAt: attendances.registeredAt,
      })
      .from(attendances)
      .where(keys.match(attendances, attendances.participantId))
      .orderBy(asc(attendances.gatheringId)),
  ),
  (row: AttendanceRow) => ({
    gathering_id: row.gatheringId,
    attended: row.attended,
    registered_at: formatTimestamp(row.registeredAt),
  }),
);
type AttendanceRow = {
  ownerId: number;
  gatheringId: number;
  attended: boolean | null;
  registeredAt: string | null;
};

const relations = { booking: loadBooking, course: loadCourse, coursedate: loadDate };
const user = includeCourseUser((row: ParticipantRow) => row.userId);
const attendance = relation.include(Type.Array(Attendance), 'unset', loadAttendance);

export const participantSerializer = defineSerializer<ParticipantRow>()({
  responseSchema: Participant,
  relations,
  toResponse: toParticipant,
  includes: { user, attendance },
  requiredIncludes: ['user'],
});

/** A participant inside an order line. */
const embeddedParticipantSerializer = defineSerializer<ParticipantRow>()({
  responseSchema: Participant,
  relations,
  toResponse: toParticipant,
  includes: { user },
  requiredIncludes: ['user'],
});

/** Participants by their ids. */
export const fetchParticipants = batchLoader((ctx, keys) =>
  ctx.db.select().from(participants).where(keys.match(participants, participants.id)),
);

/** For a participant that a foreign key guarantees. */
export const includeParticipant = <Row extends Key>(participantId: (row: Row) => number) => ({
  ...relation.includeOne(participantId, fetchParticipants, embeddedParticipantSerializer, 'unset'),
  schema: embeddedParticipantSerializer.schema,
});
