import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { GatheringField } from '../../courses/gatherings/fields.ts';
import { WaitingMode } from '../../courses/seats/schema.ts';

const { Optional } = Type;

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

const example = {
  start_at: '2030-06-10',
  end_at: '2030-06-11',
  start_time_at: '09:00',
  end_time_at: '15:30',
  place_by_search: 'Bergen',
  capacity_max: 12,
};

/** POST /v2/courses/:course_id/coursedates. */
export type CourseDateBody = Static<typeof CourseDateBody>;
export const CourseDateBody = t.NamedObject(
  'CourseDateCreate',
  {
    start_at: t.stored(courseDates.startAt, t.DayField()),
    end_at: t.stored(courseDates.endAt, t.DayField()),
    deadline_at: t.stored(courseDates.deadlineAt, Optional(deadline)),
    start_time_at: t.stored(courseDates.startTimeAt, Optional(t.TimeField())),
    end_time_at: t.stored(courseDates.endTimeAt, Optional(t.TimeField())),
    timezone: t.stored(courseDates.timezone, Optional(timezone)),
    visible_when_passed_deadline: t.stored(courseDates.visibleWhenPassedDeadline, t.withDefault(Type.Boolean(), true)),
    teaching_language: t.stored(courseDates.teachingLanguageId, Optional(language)),
    place_id: t.stored(courseDates.placeId, Optional(placeId), 'place'),
    place_by_search: Optional(placeSearch),
    place_additional_info: t.stored(courseDates.placeAdditionalInfo, Optional(placeText)),
    location_id: t.stored(courseDates.locationId, Optional(locationId), 'location'),
    status_id: t.stored(courseDates.statusId, t.withDefault(codes.courseDateStatus.Code, 1)),
    reference: t.stored(courseDates.reference, Optional(t.Line())),
    instructors: Optional(instructorIds),
    is_visible: t.stored(courseDates.isVisible, t.withDefault(Type.Boolean(), true)),
    is_virtual: t.stored(courseDates.isVirtual, t.withDefault(Type.Boolean(), false)),
    event_url: t.stored(courseDates.eventUrl, Optional(t.Url())),
    external_booking_url: t.stored(courseDates.externalBookingUrl, Optional(t.Url())),
    parent_id: t.stored(courseDates.parentId, Optional(parentId), 'coursedate'),
    trigger_value: t.stored(courseDates.triggerValue, Optional(trigger)),
    title: t.stored(courseDates.title, Optional(title)),
    capacity_max: t.stored(courseDates.capacityMax, Optional(capacity)),
    capacity_min: t.stored(courseDates.capacityMin, Optional(capacity)),
    capacity_overbook: t.stored(courseDates.capacityOverbook, Optional(capacity)),
    capacity_wait: t.stored(courseDates.capacityWait, Optional(capacity)),
    waiting_mode: t.stored(courseDates.waitingMode, t.withDefault(WaitingMode, 'promote')),
    offer_hours: t.stored(courseDates.offerHours, offerHours),
    custom_properties: t.stored(courseDates.customProperties, Optional(t.CustomProperties)),
    gatherings: Optional(gatherings),
  },
  { examples: [example] },
);

/** PUT of one. */
export type CourseDateChange = Static<typeof CourseDateChange>;
export const CourseDateChange = t.NamedObject('CourseDateUpdate', t.partialUpdate(CourseDateBody.properties), {
  examples: [{ status_id: 2, capacity_max: 14 }],
});

export type Days = Record<'startAt' | 'endAt' | 'deadlineAt', string>;

/** The rule to report if the days are out of order. */
export const findBrokenOrder = ({ startAt, endAt, deadlineAt }: Days): Record<string, OrderRule> =>
  endAt < startAt ? { end_at: 'end_before_start' } : deadlineAt > endAt ? { deadline_at: 'deadline_after_end' } : {};
type OrderRule = 'end_before_start' | 'deadline_after_end';

/** POST /v2/courses/:course_id/coursedates/:id/cancel. */
export type CancellationBody = Static<typeof CancellationBody>;
export const CancellationBody = t.NamedObject(
  'CancellationCreate',
  {
    message: Optional(t.Lines({ maxLength: 1_000, description: 'Told in the mails, and the reason of the credits' })),
    credit: t.withDefault(Type.Boolean({ description: 'Credits and deregisters the participants' }), false),
    move_to: Optional({ ...t.Id, description: 'Id of the course date to which all participants are moved' }),
    send_mail: t.withDefault(Type.Boolean({ description: 'Tells the participants' }), true),
    dry_run: dryRun('true: nothing changes, and the response has what would'),
  },
  { examples: [{ message: 'The instructor is ill', credit: true }] },
);
