import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { gatherings } from '../../../database/tables/coursedates.ts';
import { EmbeddedInstructor } from '../instructors/fields.ts';

const text = Type.String();
const Minute = Type.String({ description: 'yyyy-mm-dd hh:mm' });

export type GatheringRow = typeof gatherings.$inferSelect & { isFuture: boolean };

/** One meeting of a course date, in the date's own time zone; the serializer adds its `location`. */
export type Gathering = Static<typeof Gathering>;
export const Gathering = t.NamedObject('Gathering', {
  ...t.member.open.all({
    id: Type.Integer(),
    idInstance: Type.Integer(),
    gathering_at: Minute,
    gathering_end_at: Minute,
    idLocation: t.Nullable(Type.Integer()),
    description: t.Nullable(text),
    theme: t.Nullable(text),
  }),
  event_url: t.member.closed(t.Nullable(text)),
  ...t.member.shared.all({ created_at: t.DateTime, updated_at: t.DateTime }),
  is_future: t.member.open(Type.Boolean()),
  instructors: t.member.openPersonal(Type.Array(EmbeddedInstructor)),
});

const minute = (stored: string) => stored.slice(0, 16);

export const toGathering = (row: GatheringRow, { instructors }: Pick<Gathering, 'instructors'>): Gathering => ({
  id: row.id,
  idInstance: row.courseDateId,
  gathering_at: minute(row.gatheringAt),
  gathering_end_at: minute(row.gatheringEndAt),
  idLocation: row.locationId,
  description: row.description,
  theme: row.theme,
  event_url: row.eventUrl,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
  is_future: row.isFuture,
  instructors,
});
