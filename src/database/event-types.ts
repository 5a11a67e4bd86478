import { recordedTypes } from './record-events.ts';
import { eventResources } from './tables/events.ts';
import { named, OneOf } from '../core/schema/types.ts';

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
