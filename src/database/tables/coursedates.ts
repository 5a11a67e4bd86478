import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import * as c from './columns.ts';
import { courses } from './courses.ts';
import { instructors, locations, places } from './places.ts';
import { providers } from './providers.ts';

/** A named group of course dates; a date belongs to at most one. */
export const bundles = c.tenantTable(
  'bundles',
  {
    title: c.operational(pg.text()).notNull(),
    ...c.timestamps(),
  },
  (t) => [pg.foreignKey({ name: 'bundles_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] })],
);

const day = () => pg.date({ mode: 'string' });
const counter = () => pg.integer().notNull().default(0);

type Counted = Record<
  | 'capacityMax'
  | 'capacityMin'
  | 'capacityWait'
  | 'numConfirmed'
  | 'numOverbooked'
  | 'numUnconfirmed'
  | 'numWaiting'
  | 'statusId',
  pg.AnyPgColumn
>;

/** `seats_status` of a date, as its schema shows it. */
export const seatsStatus = (t: Counted) => sql`(case
  when ${t.capacityMax} = 0 or ${t.capacityMax} > ${t.numConfirmed} + ${t.numOverbooked} + ${t.numUnconfirmed} then 'open'
  when ${t.capacityWait} > ${t.numWaiting} then 'waiting_list'
  else 'fully_booked' end)`;

/** Fewer confirmed participants than `capacity_min`, on a date that is not canceled. */
export const isUnderMinimum = (t: Counted) =>
  sql`${t.numConfirmed} + ${t.numOverbooked} < ${t.capacityMin} and ${t.statusId} <> 3`;

/** A scheduled run of a course. `timezone` is the client's value; `zone` falls back to the service's time zone. */
export const courseDates = c.tenantTable(
  'course_dates',
  {
    courseId: c.reference().notNull(),
    parentId: c.reference(),
    bundleId: c.reference(),
    locationId: c.reference(),
    placeId: c.reference(),
    /** Null inherits from the course. */
    title: c.operational(pg.text()),
    startAt: c.operational(day()).notNull(),
    endAt: c.operational(day()).notNull(),
    deadlineAt: c.operational(day()).notNull(),
    startTimeAt: pg.time(),
    endTimeAt: pg.time(),
    timezone: c.operational(pg.text()),
    zone: c.operational(pg.text()).notNull(),
    startsAt: c
      .instant()
      .notNull()
      .generatedAlwaysAs(sql`timezone(zone, start_at + coalesce(start_time_at, '00:00'::time))`),
    endsAt: c
      .instant()
      .notNull()
      .generatedAlwaysAs(sql`timezone(zone, end_at + coalesce(end_time_at, '23:59:59'::time))`),
    eventUrl: c.operational(pg.text()),
    externalBookingUrl: c.operational(pg.text()),
    isVirtual: pg.boolean().notNull().default(false),
    isVisible: pg.boolean().notNull().default(true),
    visibleWhenPassedDeadline: pg.boolean().notNull().default(true),
    reference: c.operational(pg.text()),
    triggerValue: c.operational(pg.text()),
    teachingLanguageId: c.operational(pg.text()).notNull(),
    placeAdditionalInfo: c.operational(pg.text()),
    /** True if `place_additional_info` is a search text that matched no place. */
    placeIsSought: pg.boolean().notNull().default(false),
    internalNote: c.operational(pg.text()),
    statusId: pg.smallint().notNull().default(1),
    capacityMax: pg.integer().notNull().default(0),
    capacityMin: pg.integer().notNull().default(0),
    capacityOverbook: pg.integer().notNull().default(0),
    capacityWait: pg.integer().notNull().default(0),
    /** How a free place goes to the waiting list: at once, or as an offer that the waiting person accepts. */
    waitingMode: c
      .operational(pg.text({ enum: ['promote', 'offer'] }))
      .notNull()
      .default('promote'),
    /** How long an offer is open. */
    offerHours: pg.smallint().notNull().default(24),
    /** Told to the participants of a canceled date. */
    cancellationMessage: c.operational(pg.text()),
    numConfirmed: counter(),
    numOverbooked: counter(),
    numUnconfirmed: counter(),
    numWaiting: counter(),
    hasParticipants: pg
      .boolean()
      .notNull()
      .generatedAlwaysAs(sql`num_confirmed + num_overbooked + num_unconfirmed + num_waiting > 0`),
    customProperties: c.operational(pg.jsonb()).$type<Record<string, string | null>>(),
    ...c.timestamps(),
    deletedAt: c.instant(),
    ...c.searchWords('title'),
  },
  (t) => [
    c.tenantKey('course_dates_course_fk', t.courseId, courses.id),
    c.tenantKey('course_dates_parent_fk', t.parentId, t.id),
    c.tenantKey('course_dates_bundle_fk', t.bundleId, bundles.id),
    c.tenantKey('course_dates_location_fk', t.locationId, locations.id),
    pg.foreignKey({ name: 'course_dates_place_fk', columns: [t.placeId], foreignColumns: [places.id] }),
    pg.unique('course_dates_course').on(t.providerId, t.courseId, t.id),
    // Covers a list's filters, but for updated_at, which changes with every booking.
    c.indexWhere(
      'course_dates_list',
      [t.providerId, t.id, t.courseId, t.isVisible, t.statusId],
      sql`${t.deletedAt} is null`,
    ),
    pg.index('course_dates_visible').on(t.providerId, t.isVisible, t.id),
    pg.index('course_dates_seats').on(t.providerId, seatsStatus(t), t.id),
    pg.index('course_dates_under_minimum').on(t.providerId, t.id).where(isUnderMinimum(t)),
    c.searchIndex('course_dates_words', t),
    pg.index('course_dates_starts').on(t.providerId, t.startsAt, t.id),
    // Covers the query for next course dates.
    c.indexWhere(
      'course_dates_upcoming',
      [t.providerId, t.startsAt, t.id, t.courseId, t.startAt, t.zone, t.deadlineAt, t.visibleWhenPassedDeadline],
      sql`${t.isVisible} and ${t.statusId} <> 3 and ${t.parentId} is null and ${t.deletedAt} is null`,
    ),
    pg.index('course_dates_ends').on(t.providerId, t.endsAt, t.id),
    pg.index('course_dates_created').on(t.providerId, t.createdAt, t.id),
    pg.index('course_dates_updated').on(t.providerId, t.updatedAt, t.id),
    pg.index('course_dates_status').on(t.providerId, t.statusId, t.id),
    pg.index('course_dates_participants').on(t.providerId, t.hasParticipants, t.id),
    c.indexWhere('course_dates_parent', [t.providerId, t.parentId, t.id], sql`${t.parentId} is not null`),
    c.indexWhere('course_dates_bundle', [t.providerId, t.bundleId, t.id], sql`${t.bundleId} is not null`),
    c.indexWhere('course_dates_location', [t.providerId, t.locationId], sql`${t.locationId} is not null`),
    pg.check('course_dates_waiting_mode', sql`${t.waitingMode} in ('promote', 'offer')`),
    pg.check('course_dates_offer_hours', sql`${t.offerHours} between 1 and 168`),
    pg.check('course_dates_status_known', sql`${t.statusId} between 1 and 4`),
    pg.check('course_dates_order', sql`${t.endsAt} > ${t.startsAt}`),
    pg.check('course_dates_deadline', sql`${t.deadlineAt} <= ${t.endAt}`),
    pg.check('course_dates_own_parent', sql`${t.parentId} <> ${t.id}`),
    pg.check(
      'course_dates_capacities',
      sql`least(${t.capacityMax}, ${t.capacityMin}, ${t.capacityOverbook}, ${t.capacityWait}) >= 0`,
    ),
    pg.check(
      'course_dates_counters',
      sql`least(${t.numConfirmed}, ${t.numOverbooked}, ${t.numUnconfirmed}, ${t.numWaiting}) >= 0`,
    ),
  ],
);

/** SQL that compares trigger values. */
export const foldedTrigger = (value: pg.AnyPgColumn | string) => c.caseFolded(sql`btrim(${value})`);

export const courseDateInstructors = pg.pgTable(
  'course_date_instructors',
  { providerId: c.reference().notNull(), courseDateId: c.reference().notNull(), instructorId: c.reference().notNull() },
  (t) => [
    pg.primaryKey({ name: 'course_date_instructors_pk', columns: [t.providerId, t.courseDateId, t.instructorId] }),
    c.tenantKey('course_date_instructors_date_fk', t.courseDateId, courseDates.id),
    c.tenantKey('course_date_instructors_instructor_fk', t.instructorId, instructors.id),
    pg.index('course_date_instructors_instructor').on(t.providerId, t.instructorId, t.courseDateId),
  ],
);

/** A session of a course date; `zone` is copied from it, since a generated column can only use its own row. */
export const gatherings = c.tenantTable(
  'gatherings',
  {
    courseDateId: c.reference().notNull(),
    locationId: c.reference(),
    gatheringAt: pg.timestamp({ mode: 'string' }).notNull(),
    gatheringEndAt: pg.timestamp({ mode: 'string' }).notNull(),
    zone: c.operational(pg.text()).notNull(),
    startsAt: c
      .instant()
      .notNull()
      .generatedAlwaysAs(sql`timezone(zone, gathering_at)`),
    description: c.operational(pg.text()),
    theme: c.operational(pg.text()),
    eventUrl: c.operational(pg.text()),
    ...c.timestamps(),
    deletedAt: c.instant(),
  },
  (t) => [
    c.tenantKey('gatherings_date_fk', t.courseDateId, courseDates.id),
    c.tenantKey('gatherings_location_fk', t.locationId, locations.id),
    c.indexWhere('gatherings_date', [t.providerId, t.courseDateId, t.startsAt, t.id], sql`${t.deletedAt} is null`),
    c.indexWhere('gatherings_deleted', [t.providerId, t.courseDateId], sql`${t.deletedAt} is not null`),
    c.indexWhere(
      'gatherings_location',
      [t.providerId, t.locationId],
      sql`${t.locationId} is not null and ${t.deletedAt} is null`,
    ),
    pg.check('gatherings_order', sql`${t.gatheringEndAt} > ${t.gatheringAt}`),
  ],
);

export const gatheringInstructors = pg.pgTable(
  'gathering_instructors',
  { providerId: c.reference().notNull(), gatheringId: c.reference().notNull(), instructorId: c.reference().notNull() },
  (t) => [
    pg.primaryKey({ name: 'gathering_instructors_pk', columns: [t.providerId, t.gatheringId, t.instructorId] }),
    c.tenantKey('gathering_instructors_gathering_fk', t.gatheringId, gatherings.id),
    c.tenantKey('gathering_instructors_instructor_fk', t.instructorId, instructors.id),
    pg.index('gathering_instructors_instructor').on(t.providerId, t.instructorId, t.gatheringId),
  ],
);

/** The options of the cancellation of a course date, and its progress. */
export const cancellations = pg.pgTable(
  'cancellations',
  {
    providerId: c.reference().notNull(),
    courseDateId: c.reference().notNull(),
    credit: pg.boolean().notNull(),
    /** The course date to which the participants were moved. */
    moveTo: c.reference(),
    sendMail: pg.boolean().notNull(),
    /** The participants of bookings up to this one are credited and notified. */
    lastBookingId: c.reference().notNull(),
    numParticipants: pg.integer().notNull(),
    numMoved: pg.integer().notNull(),
    numCredits: pg.integer().notNull(),
    numMails: pg.integer().notNull(),
    createdAt: c.instant().notNull(),
    finishedAt: c.instant(),
  },
  (t) => [
    pg.primaryKey({ name: 'cancellations_pk', columns: [t.providerId, t.courseDateId] }),
    c.tenantKey('cancellations_course_date_fk', t.courseDateId, courseDates.id),
    c.tenantKey('cancellations_move_to_fk', t.moveTo, courseDates.id),
    c.indexWhere('cancellations_move_to', [t.providerId, t.moveTo], sql`${t.moveTo} is not null`),
    c.indexWhere('cancellations_unfinished', [t.providerId, t.courseDateId], sql`${t.finishedAt} is null`),
  ],
);

const onceNotices = ['reminder', 'full', 'under_minimum', 'budget'] as const;

/** Mails about a course date that are queued once. */
export const dateNotices = pg.pgTable(
  'date_notices',
  {
    providerId: c.reference().notNull(),
    courseDateId: c.reference().notNull(),
    kind: c.operational(pg.text({ enum: onceNotices })).notNull(),
    createdAt: c.instant().notNull(),
  },
  (t) => [
    pg.primaryKey({ name: 'date_notices_pk', columns: [t.providerId, t.courseDateId, t.kind] }),
    c.tenantKey('date_notices_course_date_fk', t.courseDateId, courseDates.id),
    pg.check('date_notices_kind', sql`${t.kind} in ('reminder', 'full', 'under_minimum', 'budget')`),
  ],
);
