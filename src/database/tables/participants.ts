import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  foreignKey,
  index,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import {
  indexWhere,
  instant,
  operational,
  personal,
  reference,
  tenantKey,
  tenantTable,
  timestamps,
} from './columns.ts';
import { courseDates, gatherings } from './coursedates.ts';
import { bookings, orderLines } from './orders.ts';
import { courseUsers } from './users.ts';

/** A course user on a course date. A trigger maintains the date's seat counters. */
export const participants = tenantTable(
  'participants',
  {
    bookingId: reference().notNull(),
    courseId: reference().notNull(),
    courseDateId: reference().notNull(),
    userId: reference().notNull(),
    statusId: smallint().notNull().default(1),
    statusUpdatedAt: instant().notNull(),
    /** End of an offer, which holds a seat until then. */
    heldUntil: instant(),
    /** Why an unconfirmed participant holds its seat: an open offer, or a group's place without a name. */
    heldFor: operational(text({ enum: ['offer', 'name'] })),
    /** Offers that lapsed or were declined. */
    lapsedOffers: smallint().notNull().default(0),
    paidId: smallint().notNull().default(3),
    entrySource: operational(text({ enum: ['User', 'School'] })).notNull(),
    completed: boolean().notNull().default(false),
    /** Set by hand, so that attendance does not set it. */
    completedByHand: boolean().notNull().default(false),
    noShow: boolean().notNull().default(false),
    passed: boolean().notNull().default(false),
    certificateIssuedAt: operational(date({ mode: 'string' })),
    userComment: personal(text()),
    invoiceReference: personal(text()),
    customProperties: personal(jsonb()).$type<Record<string, string | null>>(),
    ...timestamps(),
    archivedAt: instant(),
  },
  (t) => [
    tenantKey('participants_booking_fk', t.bookingId, bookings.id),
    // References date and course together, so that the copied course id cannot differ from the date's.
    foreignKey({
      name: 'participants_date_fk',
      columns: [t.providerId, t.courseId, t.courseDateId],
      foreignColumns: [courseDates.providerId, courseDates.courseId, courseDates.id],
    }),
    tenantKey('participants_user_fk', t.userId, courseUsers.id),
    index('participants_date').on(t.providerId, t.courseDateId, t.statusId, t.statusUpdatedAt, t.id),
    index('participants_course').on(t.providerId, t.courseId, t.id),
    index('participants_user').on(t.providerId, t.userId, t.id),
    index('participants_booking').on(t.providerId, t.bookingId, t.id),
    index('participants_status').on(t.providerId, t.statusId, t.id),
    index('participants_paid').on(t.providerId, t.paidId, t.id),
    index('participants_created').on(t.providerId, t.createdAt, t.id),
    index('participants_updated').on(t.providerId, t.updatedAt, t.id),
    indexWhere('participants_held', [t.providerId, t.heldUntil], sql`${t.heldUntil} is not null`),
    check(
      'participants_hold',
      sql`${t.heldFor} is null or ${t.heldFor} = 'offer' and ${t.statusId} = 7 or ${t.heldFor} = 'name' and ${t.statusId} in (2, 7)`,
    ),
    check('participants_held_until', sql`(${t.heldUntil} is not null) = (${t.heldFor} is not distinct from 'offer')`),
    check('participants_status', sql`${t.statusId} in (1, 2, 3, 4, 7, 8)`),
    check('participants_paid', sql`${t.paidId} in (1, 3)`),
    check('participants_source', sql`${t.entrySource} in ('User', 'School')`),
  ],
);

/** Participants that an order line pays for, several lines with several products, or to whom a credit belongs. */
export const orderLineParticipants = pgTable(
  'order_line_participants',
  {
    providerId: reference().notNull(),
    orderLineId: reference().notNull(),
    participantId: reference().notNull(),
    /** The share in the net amount of the line; null for an equal part. */
    amount: numeric({ precision: 12, scale: 2 }),
    /** True for a credit that takes back the item of the participant, less a fee. */
    isCredited: boolean().notNull().default(false),
  },
  (t) => [
    primaryKey({ name: 'order_line_participants_pk', columns: [t.providerId, t.orderLineId, t.participantId] }),
    tenantKey('order_line_participants_line_fk', t.orderLineId, orderLines.id),
    tenantKey('order_line_participants_participant_fk', t.participantId, participants.id),
    index('order_line_participants_participant').on(t.providerId, t.participantId, t.orderLineId),
  ],
);

/** A participant's attendance of a session; `attended` is null until registered. */
export const attendances = pgTable(
  'attendances',
  {
    providerId: reference().notNull(),
    participantId: reference().notNull(),
    gatheringId: reference().notNull(),
    attended: boolean(),
    minutes: smallint(),
    registeredAt: instant(),
  },
  (t) => [
    primaryKey({ name: 'attendances_pk', columns: [t.providerId, t.participantId, t.gatheringId] }),
    tenantKey('attendances_participant_fk', t.participantId, participants.id),
    tenantKey('attendances_gathering_fk', t.gatheringId, gatherings.id),
  ],
);

/** Every mark of a participant's attendance; the newest by `marked_at` is the attendance. */
export const attendanceMarks = tenantTable(
  'attendance_marks',
  {
    participantId: reference().notNull(),
    gatheringId: reference().notNull(),
    attended: boolean(),
    minutes: smallint(),
    /** The client's time, not after that of the server. */
    markedAt: instant().notNull(),
    /** Chosen by the client; a mark with an equal one is a repeat. */
    nonce: personal(text()).notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    tenantKey('attendance_marks_participant_fk', t.participantId, participants.id),
    tenantKey('attendance_marks_gathering_fk', t.gatheringId, gatherings.id),
    uniqueIndex('attendance_marks_nonce').on(t.providerId, t.participantId, t.gatheringId, t.nonce),
    index('attendance_marks_gathering').on(t.providerId, t.gatheringId),
  ],
);

/** The first participant of the row of `bookings`. */
export const firstParticipantId = sql`(
  select min(p.id) from ${participants} p where p.provider_id = ${bookings.providerId} and p.booking_id = ${bookings.id}
)`;

/** SQL for the share of gatherings that were attended, of rows of the two tables; null without gatherings. */
export const attendedShareSql = (gathering: string, attendance: string) =>
  `round(count(*) filter (where ${attendance}.attended)::numeric / nullif(count(${gathering}.id), 0), 3)`;
