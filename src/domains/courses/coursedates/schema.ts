import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type * as tables from '../../../database/tables/coursedates.ts';
import { SeatsStatus } from '../seats/schema.ts';

const text = Type.String();
const count = Type.Integer();
const Day = Type.String({ format: 'date' });
const TimeOfDay = Type.String({ description: 'hh:mm:ss' });
const status = codes.courseDateStatus.Item.properties;

const Seats = t.NamedObject('Seats', {
  allocated_capacity: t.member.shared(
    t.NamedObject('AllocatedCapacity', t.member.shared.all({ num: count, num_overbooked: count, num_waiting: count })),
  ),
  free: t.member.open(t.NamedObject('FreeSeats', { num: t.member.open(count), num_waiting: t.member.shared(count) })),
  booking_status: t.member.shared(
    t.NamedObject(
      'BookedSeats',
      t.member.shared.all({ num: count, num_confirmed: count, num_unconfirmed: count, num_waiting: count }),
    ),
  ),
});

/** Columns that no course date shows. */
export const hiddenColumns = [
  'zone',
  'startsAt',
  'endsAt',
  'placeIsSought',
  'internalNote',
  'capacityMin',
  'hasParticipants',
] as const;
/** The columns of its course that every date needs. */
type CourseHead = { title: string; slug: string; isPublic: boolean };
export type CourseDateRow = Omit<typeof tables.courseDates.$inferSelect, (typeof hiddenColumns)[number]> & {
  course: CourseHead;
};

export type CourseDate = Static<typeof CourseDate>;
export const CourseDate = t.NamedObject('CourseDate', {
  ...t.member.open.all({
    coursedate_id: Type.Integer(),
    title: text,
    start_at: Day,
    end_at: Day,
    deadline_at: Day,
    start_time_at: t.Nullable(TimeOfDay),
    end_time_at: t.Nullable(TimeOfDay),
    timezone: t.Nullable(text),
  }),
  event_url: t.member.closed(t.Nullable(text)),
  ...t.member.open.all({ external_booking_url: t.Nullable(text), is_virtual: Type.Boolean() }),
  is_visible: t.member.shared(Type.Boolean()),
  catalog_url: t.member.open(t.Nullable(text)),
  visible_when_passed_deadline: t.member.shared(Type.Boolean()),
  reference: t.member.closed(t.Nullable(text)),
  parent_id: t.member.shared(t.Nullable(Type.Integer())),
  trigger_value: t.member.closed(t.Nullable(text)),
  ...t.member.open.all({ seats_status: SeatsStatus, seats: Seats }),
  custom_properties: t.member.closed(t.Nullable(t.CustomProperties)),
  created_at: t.member.shared(t.Nullable(t.DateTime)),
  updated_at: t.member.open(t.Nullable(t.DateTime)),
  deleted_at: t.member.closed(t.Nullable(t.DateTime)),
  contacts: t.member.access({ data: 'personal', partner: true })(Type.Array(Type.Object({}))),
  ...t.member.open.all({
    course_id: Type.Integer(),
    location_id: t.Nullable(Type.Integer()),
    place_id: t.Nullable(Type.Integer()),
    teaching_language_id: text,
    status_id: status.id,
  }),
});

const timeOrNull = (stored: string | null) => stored?.slice(0, 8) ?? null;

export function toCourseDate(row: CourseDateRow, { catalog_url }: Pick<CourseDate, 'catalog_url'>): CourseDate {
  const seats = toSeats(row);
  return {
    coursedate_id: row.id,
    title: row.title ?? row.course.title,
    start_at: row.startAt,
    end_at: row.endAt,
    deadline_at: row.deadlineAt,
    start_time_at: timeOrNull(row.startTimeAt),
    end_time_at: timeOrNull(row.endTimeAt),
    timezone: row.timezone,
    event_url: row.eventUrl,
    external_booking_url: row.externalBookingUrl,
    is_virtual: row.isVirtual,
    is_visible: row.isVisible,
    catalog_url,
    visible_when_passed_deadline: row.visibleWhenPassedDeadline,
    reference: row.reference,
    parent_id: row.parentId,
    trigger_value: row.triggerValue,
    seats_status: seatsStatus(row, seats),
    seats,
    custom_properties: row.customProperties,
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
    deleted_at: formatTimestamp(row.deletedAt),
    contacts: [],
    course_id: row.courseId,
    location_id: row.locationId,
    place_id: row.placeId,
    teaching_language_id: row.teachingLanguageId,
    status_id: row.statusId,
  };
}

type Seats = Static<typeof Seats>;

/** Counts overbooked participants as confirmed: they hold a seat. */
function toSeats(row: CourseDateRow): Seats {
  const confirmed = row.numConfirmed + row.numOverbooked;
  const taken = confirmed + row.numUnconfirmed;
  return {
    allocated_capacity: { num: row.capacityMax, num_overbooked: row.capacityOverbook, num_waiting: row.capacityWait },
    free: {
      num: Math.max(0, row.capacityMax - taken),
      num_waiting: Math.max(0, row.capacityWait - row.numWaiting),
    },
    booking_status: {
      num: taken,
      num_confirmed: confirmed,
      num_unconfirmed: row.numUnconfirmed,
      num_waiting: row.numWaiting,
    },
  };
}

/** A capacity of 0 is no limit. */
function seatsStatus({ capacityMax }: CourseDateRow, { free }: Seats) {
  if (capacityMax === 0 || free.num > 0) return 'open';
  return free.num_waiting > 0 ? 'waiting_list' : 'fully_booked';
}

export const DateStatus = t.NamedObject(
  'CourseDateStatus',
  t.member.open.all({ id: status.id, idType: status.id, title: text }),
);
export const Bookable = Type.Boolean({
  description: 'true: a booking of one person is given a seat now; not canceled, not after the deadline or the end',
});
export const CancellationMessage = t.Nullable(
  Type.String({ description: 'Told to the participants when the date was canceled' }),
);

/** A group of course dates; the serializer adds its `items`. */
export const Bundle = t.NamedObject('Bundle', t.member.open.all({ id: Type.Integer(), title: text }));
