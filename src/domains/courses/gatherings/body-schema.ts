import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { gatherings } from '../../../database/tables/coursedates.ts';

const { Optional } = Type;

/** A gathering in a request: two moments, or a date with its start and end times. */
export type GatheringField = Static<typeof GatheringField>;
export const GatheringField = t.NamedObject('GatheringInput', {
  id: Optional(
    t.Nullable(
      Type.Integer({
        minimum: 0,
        description: 'The gathering that this one is, in an update; others are found by their times',
      }),
    ),
  ),
  gathering_at: Optional(t.LocalTimeField({ description: 'yyyy-mm-dd hh:mm; or yyyy-mm-dd, with time_start' })),
  gathering_end_at: Optional(t.LocalTimeField({ description: 'yyyy-mm-dd hh:mm; or yyyy-mm-dd, with time_end' })),
  date: Optional(t.DayField({ description: 'yyyy-mm-dd, instead of gathering_at, with time_start and time_end' })),
  time_start: Optional(t.TimeField()),
  time_end: Optional(t.TimeField()),
  idLocation: t.stored(gatherings.locationId, Optional(t.Id), 'location'),
  description: t.stored(gatherings.description, Optional(t.Note())),
  theme: t.stored(gatherings.theme, Optional(t.LongLine())),
  event_url: t.stored(gatherings.eventUrl, Optional(t.Url())),
  instructors: Optional(t.JsonList(t.Id, { maxItems: 50 })),
});
