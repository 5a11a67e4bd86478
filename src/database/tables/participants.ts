import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import * as c from './columns.ts';
import { courseDates, gatherings } from './coursedates.ts';
import { bookings, orderLines } from './orders.ts';
import { courseUsers } from './users.ts';

/** A course user on a course date. A trigger maintains the date's seat counters. */
export const participants = c.tenantTable(
  'participants',
  {
    bookingId: c.reference().notNull(),
    courseId: c.reference().notNull(),
    courseDateId: c.reference().notNull(),
    userId: c.reference().notNull(),
    statusId: pg.smallint().notNull().default(1),
    statusUpdatedAt: c.instant().notNull(),
    /** End of an offer, which holds a seat until then. */
    heldUntil: c.instant(),
    /** Why an unconfirmed participant holds its seat: an open offer, or a group's place without a name. */
    heldFor: c.operational(pg.text({ enum: ['offer', 'name'] })),
    /** Offers that lapsed or were declined. */
    lapsedOffers: pg.smallint().notNull().default(0),
    paidId: pg.smallint().notNull().default(3),
    entrySource: c.operational(pg.text({ enum: ['User', 'School'] })).notNull(),
    completed: pg.boolean().notNull().default(false),
    /** Set by hand, so that attendance does not set it. */
    completedByHand: pg.boolean().notNull().default(false),
    noShow: pg.boolean().notNull().default(false),
    passed: pg.boolean().notNull().default(false),
    certificateIssuedAt: c.operational(pg.date({ mode: 'string' })),
    userComment: c.personal(pg.text()),
    invoiceReference: c.personal(pg.text()),
    customProperties: c.personal(pg.jsonb()).$type<Record<string, string | null>>(),
    ...c.timestamps(),
    archivedAt: c.instant(),
  },
  (t) => [
    c.tenantKey('participants_booking_fk', t.bookingId, bookings.id),
    // References date and course together, so that the copied course id cannot differ from the date's.
    pg.foreignKey({
      name: 'participants_date_fk',
      columns: [t.providerId, t.courseId, t.courseDateId],
      foreignColumns: [courseDates.providerId, courseDates.courseId, courseDates.id],
    }),
    c.tenantKey('participants_user_fk', t.userId, courseUsers.id),
    pg.index('participants_date').on(t.providerId, t.courseDateId, t.statusId, t.statusUpdatedAt, t.id),
    pg.index('participants_course').on(t.providerId, t.courseId, t.id),
    pg.index('participants_user').on(t.providerId, t.userId, t.id),
    pg.index('participants_booking').on(t.providerId, t.bookingId, t.id),
    pg.index('participants_status').on(t.providerId, t.statusId, t.id),
    pg.index('participants_paid').on(t.providerId, t.paidId, t.id),
    pg.index('participants_created').on(t.providerId, t.createdAt, t.id),
    pg.index('participants_updated').on(t.providerId, t.updatedAt, t.id),
    c.indexWhere('participants_held', [t.providerId, t.heldUntil], sql`${t.heldUntil} is not null`),
    pg.check(
      'participants_hold',
      sql`${t.heldFor} is null or ${t.heldFor} = 'offer' and ${t.statusId} = 7 or ${t.heldFor} = 'name' and ${t.statusId} in (2, 7)`,
    ),
    pg.check(
      'participants_held_until',
      sql`(${t.heldUntil} is not null) = (${t.heldFor} is not distinct from 'offer')`,
    ),
    pg.check('participants_status', sql`${t.statusId} in (1, 2, 3, 4, 7, 8)`),
    pg.check('participants_paid', sql`${t.paidId} in (1, 3)`),
    pg.check('participants_source', sql`${t.entrySource} in ('User', 'School')`),
  ],
);

/** Participants that an order line pays for, several lines with several products, or to whom a credit belongs. */
export const orderLineParticipants = pg.pgTable(
  'order_line_participants',
  {
    providerId: c.reference().notNull(),
    orderLineId: c.reference().notNull(),
    participantId: c.reference().notNull(),
    /** The share in the net amount of the line; null for an equal part. */
    amount: pg.numeric({ precision: 12, scale: 2 }),
    /** True for a credit that takes back the item of the participant, less a fee. */
    isCredited: pg.boolean().notNull().default(false),
  },
  (t) => [
    pg.primaryKey({ name: 'order_line_participants_pk', columns: [t.providerId, t.orderLineId, t.participantId] }),
    c.tenantKey('order_line_participants_line_fk', t.orderLineId, orderLines.id),
    c.tenantKey('order_line_participants_participant_fk', t.participantId, participants.id),
    pg.index('order_line_participants_participant').on(t.providerId, t.participantId, t.orderLineId),
  ],
);

/** A participant's attendance of a session; `attended` is null until registered. */
export const attendances = pg.pgTable(
  'attendances',
  {
    providerId: c.reference().notNull(),
    participantId: c.reference().notNull(),
    gatheringId: c.reference().notNull(),
    attended: pg.boolean(),
    minutes: pg.smallint(),
    registeredAt: c.instant(),
  },
  (t) => [
    pg.primaryKey({ name: 'attendances_pk', columns: [t.providerId, t.participantId, t.gatheringId] }),
    c.tenantKey('attendances_participant_fk', t.participantId, participants.id),
    c.tenantKey('attendances_gathering_fk', t.gatheringId, gatherings.id),
  ],
);

/** Every mark of a participant's attendance; the newest by `marked_at` is the attendance. */
export const attendanceMarks = c.tenantTable(
  'attendance_marks',
  {
    participantId: c.reference().notNull(),
    gatheringId: c.reference().notNull(),
    attended: pg.boolean(),
    minutes: pg.smallint(),
    /** The client's time, not after that of the server. */
    markedAt: c.instant().notNull(),
    /** Chosen by the client; a mark with an equal one is a repeat. */
    nonce: c.personal(pg.text()).notNull(),
    createdAt: c.instant().notNull(),
  },
  (t) => [
    c.tenantKey('attendance_marks_participant_fk', t.participantId, participants.id),
    c.tenantKey('attendance_marks_gathering_fk', t.gatheringId, gatherings.id),
    pg.uniqueIndex('attendance_marks_nonce').on(t.providerId, t.participantId, t.gatheringId, t.nonce),
    pg.index('attendance_marks_gathering').on(t.providerId, t.gatheringId),
  ],
);

/** The first participant of the row of `bookings`. */
export const firstParticipantId = sql`(
  select min(p.id) from ${participants} p where p.provider_id = ${bookings.providerId} and p.booking_id = ${bookings.id}
)`;

/** SQL for the share of gatherings that were attended, of rows of the two tables; null without gatherings. */
export const attendedShareSql = (gathering: string, attendance: string) =>
  `round(count(*) filter (where ${attendance}.attended)::numeric / nullif(count(${gathering}.id), 0), 3)`;
