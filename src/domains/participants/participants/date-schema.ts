import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { teachingLanguages } from '../../../core/reference/courses.ts';
import { Location, toLocation, type LocationRow } from '../../courses/locations/fields.ts';

const text = Type.String();
const day = Type.String({ format: 'date' });

/** The location of a participant's course date, without the provider's internal fields. */
const DateLocation = t.named(
  'ParticipantLocation',
  Type.Pick(Location, [
    'id',
    'title',
    'custom_title',
    'address',
    'address2',
    'address3',
    'zipcode',
    'city',
    'state',
    'county',
    'idCountry',
    'country',
    'country_code',
    'idPlace',
    'lat',
    'lng',
    'timezone',
    'long_text',
    'short_text',
    'short_text_2',
    'idInstructor',
    'is_default',
    'is_archived',
    'is_virtual',
  ]),
);

/** A course date inside a participant, with other fields than in the list of course dates. */
export type ParticipantDate = Static<typeof ParticipantDate>;
export const ParticipantDate = t.NamedObject(
  'ParticipantCourseDate',
  t.member.closed.all({
    id: Type.Integer(),
    idCourse: Type.Integer(),
    idStatus: codes.courseDateStatus.Code,
    week: Type.Integer(),
    start_at: day,
    end_at: day,
    deadline_at: day,
    time_start: text,
    time_end: text,
    timezone: t.Nullable(text),
    gmt_offset: text,
    place: text,
    is_virtual: Type.Boolean(),
    event_url: t.Nullable(text),
    internal_note: t.Nullable(text),
    idLocation: text,
    teaching_language: text,
    idTeachingLanguage: text,
    location_cancellation_days: Type.Integer(),
    is_deleted: Type.Boolean(),
    guaranteed_to_run: Type.Boolean(),
    location: t.Nullable(DateLocation),
  }),
);

const { id, courseId, statusId, startAt, endAt, deadlineAt, startTimeAt, endTimeAt, timezone } = courseDates;
const { isVirtual, eventUrl, internalNote, teachingLanguageId, deletedAt } = courseDates;

export const participantDateColumns = {
  ...{ id, courseId, statusId, startAt, endAt, deadlineAt, startTimeAt, endTimeAt, timezone },
  ...{ isVirtual, eventUrl, internalNote, teachingLanguageId, deletedAt },
};

type ParticipantDateRow = {
  date: Pick<typeof courseDates.$inferSelect, keyof typeof participantDateColumns>;
  location: LocationRow | null;
  place: string | null;
  /** The ISO week of the start. */
  week: number;
  /** The zone's offset from UTC at the start, in seconds. */
  offset: number;
};

const willRun = 2;

export const toParticipantDate = (row: ParticipantDateRow, ctx: Ctx): ParticipantDate => ({
  id: row.date.id,
  idCourse: row.date.courseId,
  idStatus: row.date.statusId,
  week: row.week,
  start_at: row.date.startAt,
  end_at: row.date.endAt,
  deadline_at: row.date.deadlineAt,
  time_start: hoursAndMinutes(row.date.startTimeAt),
  time_end: hoursAndMinutes(row.date.endTimeAt),
  timezone: row.date.timezone,
  gmt_offset: offsetText(row.offset),
  place: row.place ?? '',
  is_virtual: row.date.isVirtual,
  event_url: row.date.eventUrl,
  internal_note: row.date.internalNote,
  idLocation: row.location === null ? '' : String(row.location.id),
  teaching_language: teachingLanguages.get(row.date.teachingLanguageId)?.[ctx.language] ?? '',
  idTeachingLanguage: row.date.teachingLanguageId,
  location_cancellation_days: row.location?.cancellationDays ?? 0,
  is_deleted: row.date.deletedAt !== null,
  guaranteed_to_run: row.date.statusId === willRun,
  // The JSON serializer drops the fields that DateLocation lacks.
  location: row.location === null ? null : toLocation(row.location, { place: null }, ctx),
});

/** `09:00:00` is `09:00`; empty when no time is set. */
const hoursAndMinutes = (time: string | null) => time?.slice(0, 5) ?? '';

function offsetText(seconds: number) {
  const minutes = Math.floor(Math.abs(seconds) / 60);
  const pad = (number: number) => String(number).padStart(2, '0');
  return `${seconds < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
