import { Type, type Static } from '@sinclair/typebox';
import { partialUpdate } from '../../schema/partial-update.ts';
import {
  Count,
  CustomProperties,
  DayField,
  withDefault,
  Flag,
  Id,
  JsonList,
  Line,
  LongLine,
  Note,
  OneOf,
  TimeField,
  Title,
  Url,
} from '../../schema/types.ts';
import { teachingLanguageCodes } from '../../reference/courses.ts';
import { courseDateStatuses } from '../../reference/statuses.ts';
import { GatheringField } from './gathering-schema.ts';

const { Optional } = Type;

const deadline = DayField({ description: 'yyyy-mm-dd; start_at unless sent' });
const timezone = Line({ description: 'An IANA name; the service time zone unless sent' });
const language = OneOf(teachingLanguageCodes, { description: "The course's unless sent" });
const placeId = { ...Id, description: 'A place' };
const placeText = Note({ description: 'Shown beside the place, or without one' });
const placeSearch = Title({
  maxLength: 5_000,
  description: 'The title of a place; used when place_id is not sent. Without a match it is place_additional_info',
});
const locationId = { ...Id, description: 'One of the own locations' };
const statusIds = [...courseDateStatuses.keys()];
const taughtBy = JsonList(Id, { maxItems: 50, description: 'Ids of the own instructors' });
const parentId = { ...Id, description: 'Another date of the same course that is no child itself' };
const trigger = LongLine({ description: 'Routes a participant with an equal value from the parent to this date' });
const title = Title({ description: "The course's unless sent" });
const capacity = Count({ description: 'On a create copied from the location unless sent' });
const meetings = JsonList(GatheringField, {
  maxItems: 200,
  description: 'Each with gathering_at and gathering_end_at, or with date, time_start and time_end',
});

/** What the page to try it begins with. */
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
export const CourseDateBody = Type.Object(
  {
    start_at: DayField(),
    end_at: DayField(),
    deadline_at: Optional(deadline),
    start_time_at: Optional(TimeField()),
    end_time_at: Optional(TimeField()),
    timezone: Optional(timezone),
    visible_when_passed_deadline: withDefault(Flag(), true),
    teaching_language: Optional(language),
    place_id: Optional(placeId),
    place_by_search: Optional(placeSearch),
    place_additional_info: Optional(placeText),
    location_id: Optional(locationId),
    status_id: withDefault(OneOf(statusIds), 1),
    reference: Optional(Line()),
    instructors: Optional(taughtBy),
    is_visible: withDefault(Flag(), true),
    is_virtual: withDefault(Flag(), false),
    event_url: Optional(Url()),
    external_booking_url: Optional(Url()),
    parent_id: Optional(parentId),
    trigger_value: Optional(trigger),
    title: Optional(title),
    capacity_max: Optional(capacity),
    capacity_min: Optional(capacity),
    capacity_overbook: Optional(capacity),
    capacity_wait: Optional(capacity),
    custom_properties: Optional(CustomProperties),
    gatherings: Optional(meetings),
  },
  { examples: [example] },
);

/** PUT of one. */
export type CourseDateChange = Static<typeof CourseDateChange>;
export const CourseDateChange = Type.Object(partialUpdate(CourseDateBody.properties), {
  examples: [{ status_id: 2, capacity_max: 14 }],
});

/** The day that is out of order, by the field that is named for it. */
export type Days = Record<'startAt' | 'endAt' | 'deadlineAt', string>;
export const disorder = ({ startAt, endAt, deadlineAt }: Days) =>
  endAt < startAt ? ['end_at'] : deadlineAt > endAt ? ['deadline_at'] : [];
