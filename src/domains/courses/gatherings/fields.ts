import { Type, type Static } from '@sinclair/typebox';
import { LocalTime, t } from '../../../core/schema/types.ts';
import { gatherings as c } from '../../../database/tables/coursedates.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { EmbeddedInstructor } from '../instructors/fields.ts';

const { Optional } = Type;
export type GatheringRow = typeof c.$inferSelect & { isFuture: boolean };

const { define, open, shared, closed, shownTo, written, imported } = fieldsOf<
  GatheringRow,
  { instructors: EmbeddedInstructor[] }
>();
const openPersonal = shownTo(t.member.openPersonal);

const Minute = Type.String({ description: 'yyyy-mm-dd hh:mm' });
const id = Type.Integer({
  minimum: 0,
  description: 'The gathering that this one is, in an update; others are found by their times',
});
const start = t.LocalTimeField({ description: 'yyyy-mm-dd hh:mm; or yyyy-mm-dd, with time_start' });
const end = t.LocalTimeField({ description: 'yyyy-mm-dd hh:mm; or yyyy-mm-dd, with time_end' });
const day = t.DayField({ description: 'yyyy-mm-dd, instead of gathering_at, with time_start and time_end' });

const fields = define({
  id: open.value(Type.Integer(), (row) => row.id, Optional(t.Nullable(id))),
  idInstance: open(c.courseDateId),
  gathering_at: open(c.gatheringAt, Optional(start), {
    shown: Minute,
    read: (row) => row.gatheringAt.slice(0, 16),
    imported: LocalTime,
  }),
  gathering_end_at: open(c.gatheringEndAt, Optional(end), {
    shown: Minute,
    read: (row) => row.gatheringEndAt.slice(0, 16),
    imported: LocalTime,
  }),
  ...{
    date: written.value(Optional(day)),
    time_start: written.value(Optional(t.TimeField())),
    time_end: written.value(Optional(t.TimeField())),
  },
  idLocation: open(c.locationId, Optional(t.Id), { to: 'location' }),
  description: open.note(c.description),
  theme: open.longLine(c.theme),
  event_url: closed(c.eventUrl, Optional(t.Url())),
  created_at: shared(c.createdAt),
  updated_at: shared(c.updatedAt),
  is_future: open.value(Type.Boolean(), (row) => row.isFuture),
  instructors: openPersonal.value(
    Type.Array(EmbeddedInstructor),
    (_, { instructors }) => instructors,
    Optional(t.JsonList(t.Id, { maxItems: 50 })),
  ),
  deleted_at: imported(c.deletedAt),
});
export const importedGathering = fields.imported;

/** One meeting of a course date, in the date's own time zone; the serializer adds its `location`. */
export type Gathering = Static<typeof Gathering>;
export const [Gathering, toGathering] = fields.item('Gathering');

/** A gathering in a request: two moments, or a date with its start and end times. */
export type GatheringField = Static<typeof GatheringField>;
export const GatheringField = fields.body('GatheringInput');
