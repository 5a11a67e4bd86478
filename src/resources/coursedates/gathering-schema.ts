import { Type, type Static } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';
import type { Ctx } from '../../database/context.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import type * as tables from '../../database/tables/coursedates.ts';
import { EmbeddedInstructor } from '../instructors/schema.ts';

const text = Type.String();
const Minute = Type.String({ description: 'yyyy-mm-dd hh:mm' });

export type GatheringRow = typeof tables.gatherings.$inferSelect & { isFuture: boolean };

/** One meeting of a course date, in the date's own time zone; the serializer adds its `location`. */
export type Gathering = Static<typeof Gathering>;
export const Gathering = t.NamedObject('Gathering', {
  id: Type.Integer(),
  idInstance: Type.Integer(),
  gathering_at: Minute,
  gathering_end_at: Minute,
  idLocation: t.Nullable(Type.Integer()),
  description: t.Nullable(text),
  theme: t.Nullable(text),
  event_url: t.Nullable(text),
  created_at: t.DateTime,
  updated_at: t.DateTime,
  is_future: Type.Boolean(),
  instructors: Type.Array(EmbeddedInstructor),
});

const minute = (stored: string) => stored.slice(0, 16);

/** A partner's gathering does not show its event URL. */
export const toGathering = (
  row: GatheringRow,
  { instructors }: Pick<Gathering, 'instructors'>,
  { providerId }: Ctx,
): Gathering => ({
  id: row.id,
  idInstance: row.courseDateId,
  gathering_at: minute(row.gatheringAt),
  gathering_end_at: minute(row.gatheringEndAt),
  idLocation: row.locationId,
  description: row.description,
  theme: row.theme,
  event_url: row.providerId === providerId ? row.eventUrl : null,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
  is_future: row.isFuture,
  instructors,
});

const { Optional } = Type;

/** A gathering in a request: two moments, or a date with its start and end times. */
export type GatheringField = Static<typeof GatheringField>;
export const GatheringField = t.NamedObject('GatheringInput', {
  gathering_at: Optional(t.LocalTimeField({ description: 'yyyy-mm-dd hh:mm; or yyyy-mm-dd, with time_start' })),
  gathering_end_at: Optional(t.LocalTimeField({ description: 'yyyy-mm-dd hh:mm; or yyyy-mm-dd, with time_end' })),
  date: Optional(t.DayField({ description: 'yyyy-mm-dd, instead of gathering_at, with time_start and time_end' })),
  time_start: Optional(t.TimeField()),
  time_end: Optional(t.TimeField()),
  idLocation: Optional(t.Id),
  description: Optional(t.Note()),
  theme: Optional(t.LongLine()),
  event_url: Optional(t.Url()),
  instructors: Optional(t.JsonList(t.Id, { maxItems: 50 })),
});
