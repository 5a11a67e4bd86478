import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  time,
  timestamp,
  unique,
} from 'drizzle-orm/pg-core';
import {
  caseFolded,
  indexWhere,
  instant,
  operational,
  reference,
  searchIndex,
  searchWords,
  tenantKey,
  tenantTable,
  timestamps,
} from './columns.ts';
import { courses } from './courses.ts';
import { instructors, locations, places } from './places.ts';
import { providers } from './providers.ts';

/** A named group of course dates; a date belongs to at most one. */
export const bundles = tenantTable(
  'bundles',
  {
    title: operational(text()).notNull(),
    ...timestamps(),
  },
  (t) => [foreignKey({ name: 'bundles_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] })],
);

const day = () => date({ mode: 'string' });
const counter = () => integer().notNull().default(0);

type Counted = Record<
  | 'capacityMax'
  | 'capacityMin'
  | 'capacityWait'
  | 'numConfirmed'
  | 'numOverbooked'
  | 'numUnconfirmed'
  | 'numWaiting'
  | 'statusId',
  AnyPgColumn
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
export const courseDates = tenantTable(
  'course_dates',
  {
    courseId: reference().notNull(),
    parentId: reference(),
    bundleId: reference(),
    locationId: reference(),
    placeId: reference(),
    /** Null inherits from the course. */
    title: operational(text()),
    startAt: operational(day()).notNull(),
    endAt: operational(day()).notNull(),
    deadlineAt: operational(day()).notNull(),
    startTimeAt: time(),
    endTimeAt: time(),
    timezone: operational(text()),
    zone: operational(text()).notNull(),
    startsAt: instant()
      .notNull()
      .generatedAlwaysAs(sql`timezone(zone, start_at + coalesce(start_time_at, '00:00'::time))`),
    endsAt: instant()
      .notNull()
      .generatedAlwaysAs(sql`timezone(zone, end_at + coalesce(end_time_at, '23:59:59'::time))`),
    eventUrl: operational(text()),
    externalBookingUrl: operational(text()),
    isVirtual: boolean().notNull().default(false),
    isVisible: boolean().notNull().default(true),
    visibleWhenPassedDeadline: boolean().notNull().default(true),
    reference: operational(text()),
    triggerValue: operational(text()),
    teachingLanguageId: operational(text()).notNull(),
    placeAdditionalInfo: operational(text()),
    /** True if `place_additional_info` is a search text that matched no place. */
    placeIsSought: boolean().notNull().default(false),
    internalNote: operational(text()),
    statusId: smallint().notNull().default(1),
    capacityMax: integer().notNull().default(0),
    capacityMin: integer().notNull().default(0),
    capacityOverbook: integer().notNull().default(0),
    capacityWait: integer().notNull().default(0),
    /** How a free place goes to the waiting list: at once, or as an offer that the waiting person accepts. */
    waitingMode: operational(text({ enum: ['promote', 'offer'] }))
      .notNull()
      .default('promote'),
    /** How long an offer is open. */
    offerHours: smallint().notNull().default(24),
    /** Told to the participants of a canceled date. */
    cancellationMessage: operational(text()),
    numConfirmed: counter(),
    numOverbooked: counter(),
    numUnconfirmed: counter(),
    numWaiting: counter(),
    hasParticipants: boolean()
      .notNull()
      .generatedAlwaysAs(sql`num_confirmed + num_overbooked + num_unconfirmed + num_waiting > 0`),
    customProperties: operational(jsonb()).$type<Record<string, string | null>>(),
    ...timestamps(),
    deletedAt: instant(),
    ...searchWords('title'),
  },
  (t) => [
    tenantKey('course_dates_course_fk', t.courseId, courses.id),
    tenantKey('course_dates_parent_fk', t.parentId, t.id),
    tenantKey('course_dates_bundle_fk', t.bundleId, bundles.id),
    tenantKey('course_dates_location_fk', t.locationId, locations.id),
    foreignKey({ name: 'course_dates_place_fk', columns: [t.placeId], foreignColumns: [places.id] }),
    unique('course_dates_course').on(t.providerId, t.courseId, t.id),
    // Covers a list's filters, but for updated_at, which changes with every booking.
    indexWhere(
      'course_dates_list',
      [t.providerId, t.id, t.courseId, t.isVisible, t.statusId],
      sql`${t.deletedAt} is null`,
    ),
    index('course_dates_visible').on(t.providerId, t.isVisible, t.id),
    index('course_dates_seats').on(t.providerId, seatsStatus(t), t.id),
    index('course_dates_under_minimum').on(t.providerId, t.id).where(isUnderMinimum(t)),
    searchIndex('course_dates_words', t),
    index('course_dates_starts').on(t.providerId, t.startsAt, t.id),
    // Covers the query for next course dates.
    indexWhere(
      'course_dates_upcoming',
      [t.providerId, t.startsAt, t.id, t.courseId, t.startAt, t.zone, t.deadlineAt, t.visibleWhenPassedDeadline],
      sql`${t.isVisible} and ${t.statusId} <> 3 and ${t.parentId} is null and ${t.deletedAt} is null`,
    ),
    index('course_dates_ends').on(t.providerId, t.endsAt, t.id),
    index('course_dates_created').on(t.providerId, t.createdAt, t.id),
    index('course_dates_updated').on(t.providerId, t.updatedAt, t.id),
    index('course_dates_status').on(t.providerId, t.statusId, t.id),
    index('course_dates_participants').on(t.providerId, t.hasParticipants, t.id),
    indexWhere('course_dates_parent', [t.providerId, t.parentId, t.id], sql`${t.parentId} is not null`),
    indexWhere('course_dates_bundle', [t.providerId, t.bundleId, t.id], sql`${t.bundleId} is not null`),
    indexWhere('course_dates_location', [t.providerId, t.locationId], sql`${t.locationId} is not null`),
    check('course_dates_waiting_mode', sql`${t.waitingMode} in ('promote', 'offer')`),
    check('course_dates_offer_hours', sql`${t.offerHours} between 1 and 168`),
    check('course_dates_status_known', sql`${t.statusId} between 1 and 4`),
    check('course_dates_order', sql`${t.endsAt} > ${t.startsAt}`),
    check('course_dates_deadline', sql`${t.deadlineAt} <= ${t.endAt}`),
    check('course_dates_own_parent', sql`${t.parentId} <> ${t.id}`),
    check(
      'course_dates_capacities',
      sql`least(${t.capacityMax}, ${t.capacityMin}, ${t.capacityOverbook}, ${t.capacityWait}) >= 0`,
    ),
    check(
      'course_dates_counters',
      sql`least(${t.numConfirmed}, ${t.numOverbooked}, ${t.numUnconfirmed}, ${t.numWaiting}) >= 0`,
    ),
  ],
);

/** SQL that compares trigger values. */
export const foldedTrigger = (value: AnyPgColumn | string) => caseFolded(sql`btrim(${value})`);

export const courseDateInstructors = pgTable(
  'course_date_instructors',
  { providerId: reference().notNull(), courseDateId: reference().notNull(), instructorId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'course_date_instructors_pk', columns: [t.providerId, t.courseDateId, t.instructorId] }),
    tenantKey('course_date_instructors_date_fk', t.courseDateId, courseDates.id),
    tenantKey('course_date_instructors_instructor_fk', t.instructorId, instructors.id),
    index('course_date_instructors_instructor').on(t.providerId, t.instructorId, t.courseDateId),
  ],
);

/** A session of a course date; `zone` is copied from it, since a generated column can only use its own row. */
export const gatherings = tenantTable(
  'gatherings',
  {
    courseDateId: reference().notNull(),
    locationId: reference(),
    gatheringAt: timestamp({ mode: 'string' }).notNull(),
    gatheringEndAt: timestamp({ mode: 'string' }).notNull(),
    zone: operational(text()).notNull(),
    startsAt: instant()
      .notNull()
      .generatedAlwaysAs(sql`timezone(zone, gathering_at)`),
    description: operational(text()),
    theme: operational(text()),
    eventUrl: operational(text()),
    ...timestamps(),
    deletedAt: instant(),
  },
  (t) => [
    tenantKey('gatherings_date_fk', t.courseDateId, courseDates.id),
    tenantKey('gatherings_location_fk', t.locationId, locations.id),
    indexWhere('gatherings_date', [t.providerId, t.courseDateId, t.startsAt, t.id], sql`${t.deletedAt} is null`),
    indexWhere('gatherings_deleted', [t.providerId, t.courseDateId], sql`${t.deletedAt} is not null`),
    indexWhere(
      'gatherings_location',
      [t.providerId, t.locationId],
      sql`${t.locationId} is not null and ${t.deletedAt} is null`,
    ),
    check('gatherings_order', sql`${t.gatheringEndAt} > ${t.gatheringAt}`),
  ],
);

export const gatheringInstructors = pgTable(
  'gathering_instructors',
  { providerId: reference().notNull(), gatheringId: reference().notNull(), instructorId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'gathering_instructors_pk', columns: [t.providerId, t.gatheringId, t.instructorId] }),
    tenantKey('gathering_instructors_gathering_fk', t.gatheringId, gatherings.id),
    tenantKey('gathering_instructors_instructor_fk', t.instructorId, instructors.id),
    index('gathering_instructors_instructor').on(t.providerId, t.instructorId, t.gatheringId),
  ],
);

/** The options of the cancellation of a course date, and its progress. */
export const cancellations = pgTable(
  'cancellations',
  {
    providerId: reference().notNull(),
    courseDateId: reference().notNull(),
    credit: boolean().notNull(),
    /** The course date to which the participants were moved. */
    moveTo: reference(),
    sendMail: boolean().notNull(),
    /** The participants of bookings up to this one are credited and notified. */
    lastBookingId: reference().notNull(),
    numParticipants: integer().notNull(),
    numMoved: integer().notNull(),
    numCredits: integer().notNull(),
    numMails: integer().notNull(),
    createdAt: instant().notNull(),
    finishedAt: instant(),
  },
  (t) => [
    primaryKey({ name: 'cancellations_pk', columns: [t.providerId, t.courseDateId] }),
    tenantKey('cancellations_course_date_fk', t.courseDateId, courseDates.id),
    tenantKey('cancellations_move_to_fk', t.moveTo, courseDates.id),
    indexWhere('cancellations_move_to', [t.providerId, t.moveTo], sql`${t.moveTo} is not null`),
    indexWhere('cancellations_unfinished', [t.providerId, t.courseDateId], sql`${t.finishedAt} is null`),
  ],
);

export const onceNotices = ['reminder', 'full', 'under_minimum', 'budget'] as const;

/** Mails about a course date that are queued once. */
export const dateNotices = pgTable(
  'date_notices',
  {
    providerId: reference().notNull(),
    courseDateId: reference().notNull(),
    kind: operational(text({ enum: onceNotices })).notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'date_notices_pk', columns: [t.providerId, t.courseDateId, t.kind] }),
    tenantKey('date_notices_course_date_fk', t.courseDateId, courseDates.id),
    check('date_notices_kind', sql`${t.kind} in ('reminder', 'full', 'under_minimum', 'budget')`),
  ],
);
