import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import * as t from '../../core/schema/types.ts';
import { unchangedFields } from '../../core/schema/validator.ts';
import { GatheringField } from './gathering-schema.ts';

const { Optional } = Type;

const deadline = t.DayField({ description: 'yyyy-mm-dd; start_at unless sent' });
const timezone = t.Line({ description: 'An IANA name; the service time zone unless sent' });
const language = { ...codes.TeachingLanguageCode, description: "The course's language unless sent" };
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
    start_at: t.DayField(),
    end_at: t.DayField(),
    deadline_at: Optional(deadline),
    start_time_at: Optional(t.TimeField()),
    end_time_at: Optional(t.TimeField()),
    timezone: Optional(timezone),
    visible_when_passed_deadline: t.withDefault(t.Flag(), true),
    teaching_language: Optional(language),
    place_id: Optional(placeId),
    place_by_search: Optional(placeSearch),
    place_additional_info: Optional(placeText),
    location_id: Optional(locationId),
    status_id: t.withDefault(codes.CourseDateStatusId, 1),
    reference: Optional(t.Line()),
    instructors: Optional(instructorIds),
    is_visible: t.withDefault(t.Flag(), true),
    is_virtual: t.withDefault(t.Flag(), false),
    event_url: Optional(t.Url()),
    external_booking_url: Optional(t.Url()),
    parent_id: Optional(parentId),
    trigger_value: Optional(trigger),
    title: Optional(title),
    capacity_max: Optional(capacity),
    capacity_min: Optional(capacity),
    capacity_overbook: Optional(capacity),
    capacity_wait: Optional(capacity),
    custom_properties: Optional(t.CustomProperties),
    gatherings: Optional(gatherings),
  },
  { examples: [example] },
);

/** PUT of one. */
export type CourseDateChange = Static<typeof CourseDateChange>;
export const CourseDateChange = t.NamedObject('CourseDateUpdate', t.partialUpdate(CourseDateBody.properties), {
  examples: [{ status_id: 2, capacity_max: 14 }],
});

/** True for a field of the request, also if its value is the one that was read. */
export const isSent = (body: CourseDateChange & { [unchangedFields]?: string[] }, name: keyof CourseDateChange) =>
  body[name] !== undefined || body[unchangedFields]?.includes(name) === true;

export type Days = Record<'startAt' | 'endAt' | 'deadlineAt', string>;

/** The field to report if the days are out of order. */
export const misorderedDays = ({ startAt, endAt, deadlineAt }: Days) =>
  endAt < startAt ? ['end_at'] : deadlineAt > endAt ? ['deadline_at'] : [];
