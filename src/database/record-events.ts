import { named, OneOf } from '../core/schema/types.ts';
import type { SchoolWrite } from './context.ts';
import { statement } from './statement.ts';
import { eventResources } from './tables/events.ts';

/** Events of the change feed that code records, beside those of changed rows. */
type RecordedEvent = { type: EventName; id: number };
type EventName =
  | 'coursedate.canceled'
  | `offer.${'made' | 'accepted' | 'declined' | 'lapsed'}`
  | `order.${'paid' | 'settled' | 'credited'}`
  | `participant.${'swapped' | 'moved'}`;

// Text: most writes wait for it.
const insertEvents = statement(
  'record_events',
  { takes: { providerId: 'int', now: 'moment', recorded: { rows: { type: 'text', id: 'int' } } } },
  `insert into events (provider_id, at, resource, change, resource_id)
    select :providerId, :now, split_part(type, '.', 1), split_part(type, '.', 2), id from :recorded order by place`,
);

/** Records these events in their order. */
export async function recordEvents({ providerId, tx, now }: SchoolWrite, recorded: RecordedEvent[]) {
  if (recorded.length > 0) await insertEvents(tx, { providerId, now, recorded });
}

/** The types of these events. */
export const recordedTypes: EventName[] = [
  'coursedate.canceled',
  ...(['order.paid', 'order.settled', 'order.credited', 'participant.swapped', 'participant.moved'] as const),
  ...(['offer.made', 'offer.accepted', 'offer.declined', 'offer.lapsed'] as const),
];

const toChangeTypes = (resource: string) => ['created', 'updated', 'deleted'].map((change) => `${resource}.${change}`);

const mergedTypes = ['customer.merged', 'courseuser.merged'];

/** Types of events, as `course.created`. */
export const eventTypes = [
  ...eventResources.filter((resource) => resource !== 'offer').flatMap(toChangeTypes),
  'coursedate.seats_changed',
  ...mergedTypes,
  'courseuser.erased',
  ...recordedTypes,
  'resync',
];

export const EventType = named('EventType', OneOf(eventTypes, { examples: ['course.updated'] }));
export const EventResource = named('EventResource', OneOf(eventResources, { examples: ['course'] }));
