import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { Day, t, TimeOfDay } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { courseDates as c } from '../../../database/tables/coursedates.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { toIds, toItems } from '../../../lists/input-aliases.ts';
import { GatheringField } from '../gatherings/fields.ts';
import { SeatsStatus, WaitingMode } from '../seats/schema.ts';
import type { CourseDateRow } from './schema.ts';

const { Optional } = Type;
const { define, open, shared, closed, shownTo, written, imported } = fieldsOf<CourseDateRow>();
const sharedPersonal = shownTo(t.member.access({ data: 'personal', partner: true }));

const count = Type.Integer();
const timeShown = t.Nullable(Type.String({ description: 'hh:mm:ss' }));
const status = codes.courseDateStatus.Item.properties;

type Seats = Static<typeof Seats>;
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

const deadline = t.DayField({ description: 'yyyy-mm-dd; start_at unless sent' });
const timezone = t.Line({ description: 'An IANA name; the service time zone unless sent' });
const language = { ...codes.teachingLanguage.Code, description: "The course's language unless sent" };
const placeId = { ...t.Id, description: 'The id of a place' };
const placeText = t.Note({ description: 'Additional text on the place, also without a place' });
const placeSearch = t.Title({
  maxLength: 5_000,
  description: 'The title of a place; used when place_id is not sent. Without a match it is place_additional_info',
});
const locationId = { ...t.Id, description: "The id of one of the school's own locations" };
const instructorIds = t.JsonList(t.Id, { maxItems: 50, description: "Ids of the school's own instructors" });
const parentId = { ...t.Id, description: 'The id of another date of the same course that has no parent' };
const trigger = t.Title({
  maxLength: 5_000,
  description:
    'A booking of the parent date books participants with an equal value, without regard to case, on this date; each child has its own',
});
const title = t.Title({ description: "The course's title unless sent" });
const capacity = t.Count({ description: "On creation, the location's value unless sent" });
const offerHours = t.withDefault(
  Type.Integer({ minimum: 1, maximum: 168, description: 'How long an offer is open, until the start at the latest' }),
  24,
);
const gatherings = t.JsonList(GatheringField, {
  maxItems: 200,
  description: 'Each with gathering_at and gathering_end_at, or with date, time_start and time_end',
});

const withInstructorIds = toItems((item) =>
  Object.hasOwn(item, 'instructors') ? { ...item, instructors: toIds(item['instructors']) } : item,
);

const fields = define(
  {
    coursedate_id: open(c.id),
    course_id: open(c.courseId),
    parent_id: shared(c.parentId, Optional(parentId), { to: 'coursedate' }),
    location_id: open(c.locationId, Optional(locationId), { to: 'location', reads: ['location.id'] }),
    place_id: open(c.placeId, Optional(placeId), { to: 'place', reads: ['place.id'] }),
    place_by_search: written.value(Optional(placeSearch)),
    title: open(c.title, Optional(title), { shown: Type.String() }),
    start_at: open(c.startAt, t.DayField(), { shown: Day, imported: Day }),
    end_at: open(c.endAt, t.DayField(), { shown: Day, imported: Day }),
    deadline_at: open(c.deadlineAt, Optional(deadline), { shown: Day, imported: Optional(Day) }),
    start_time_at: open(c.startTimeAt, Optional(t.TimeField()), { shown: timeShown, imported: Optional(TimeOfDay) }),
    end_time_at: open(c.endTimeAt, Optional(t.TimeField()), { shown: timeShown, imported: Optional(TimeOfDay) }),
    timezone: open(c.timezone, Optional(timezone)),
    event_url: closed(c.eventUrl, Optional(t.Url())),
    external_booking_url: open(c.externalBookingUrl, Optional(t.Url())),
    is_virtual: open.flag(c.isVirtual),
    is_visible: shared(c.isVisible, t.withDefault(Type.Boolean(), true)),
    catalog_url: open.value(t.Nullable(Type.String())),
    visible_when_passed_deadline: shared(c.visibleWhenPassedDeadline, t.withDefault(Type.Boolean(), true)),
    reference: closed.line(c.reference),
    trigger_value: closed(c.triggerValue, Optional(trigger)),
    teaching_language: written(c.teachingLanguageId, Optional(language), {
      reads: ['teaching_language_id', 'teaching_language.id'],
    }),
    teaching_language_id: open(c.teachingLanguageId),
    place_additional_info: written(c.placeAdditionalInfo, Optional(placeText), {
      reads: ['place.title_additional_info'],
    }),
    place_is_sought: imported(c.placeIsSought),
    internal_note: imported(c.internalNote, Optional(t.Note())),
    status_id: open(c.statusId, t.withDefault(codes.courseDateStatus.Code, 1), {
      shown: status.id,
      reads: ['status.id'],
    }),
    cancellation_message: imported(c.cancellationMessage, Optional(t.Lines({ maxLength: 1_000 }))),
    capacity_max: written(c.capacityMax, Optional(capacity), { reads: ['seats.allocated_capacity.num'] }),
    capacity_min: written(c.capacityMin, Optional(capacity)),
    capacity_overbook: written(c.capacityOverbook, Optional(capacity), {
      reads: ['seats.allocated_capacity.num_overbooked'],
    }),
    capacity_wait: written(c.capacityWait, Optional(capacity), { reads: ['seats.allocated_capacity.num_waiting'] }),
    waiting_mode: written(c.waitingMode, t.withDefault(WaitingMode, 'promote'), { reads: ['waiting.mode'] }),
    offer_hours: written(c.offerHours, offerHours, { reads: ['waiting.offer_hours'] }),
    custom_properties: closed(c.customProperties, Optional(t.CustomProperties), {
      shown: t.Nullable(t.CustomProperties),
    }),
    deleted_at: closed(c.deletedAt, undefined, { shown: t.Nullable(t.DateTime), imported: true }),
    seats_status: open.value(SeatsStatus),
    seats: open.value(Seats),
    created_at: shared(c.createdAt, undefined, { shown: t.Nullable(t.DateTime) }),
    updated_at: open(c.updatedAt, undefined, { shown: t.Nullable(t.DateTime) }),
    contacts: sharedPersonal.value(Type.Array(Type.Object({}))),
    instructors: written.value(Optional(instructorIds), ['instructors', toIds]),
    gatherings: written.value(Optional(gatherings), ['gatherings', withInstructorIds]),
  },
  {
    answer:
      'parent_id trigger_value seats_status seats custom_properties created_at updated_at deleted_at contacts ' +
      'course_id location_id place_id teaching_language_id status_id',
    body:
      'visible_when_passed_deadline teaching_language place_id place_by_search place_additional_info location_id ' +
      'status_id reference instructors is_visible is_virtual event_url external_booking_url parent_id trigger_value ' +
      'title capacity_max capacity_min capacity_overbook capacity_wait waiting_mode offer_hours custom_properties ' +
      'gatherings',
  },
);
export const importedCourseDate = fields.imported;
export const { inputAliases } = fields;

export type CourseDate = Static<typeof CourseDate>;
export const CourseDate = fields.schema('CourseDate');

/** POST /v2/courses/:course_id/coursedates. */
export type CourseDateBody = Static<typeof CourseDateBody>;
export const CourseDateBody = fields.body('CourseDateCreate', {
  examples: [
    {
      ...{ start_at: '2030-06-10', end_at: '2030-06-11', start_time_at: '09:00', end_time_at: '15:30' },
      ...{ place_by_search: 'Bergen', capacity_max: 12 },
    },
  ],
});

/** PUT of one. */
export type CourseDateChange = Static<typeof CourseDateChange>;
export const CourseDateChange = fields.update('CourseDateUpdate', {
  examples: [{ status_id: 2, capacity_max: 14 }],
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
