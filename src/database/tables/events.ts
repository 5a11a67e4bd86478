import { sql } from 'drizzle-orm';
import { bigint, check, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, operational, reference } from './columns.ts';

/** Resources whose changes leave events; by these names in the interface. */
export const eventResources = [
  'course',
  'coursedate',
  'booking',
  'participant',
  'order',
  'payment',
  'customer',
  'courseuser',
  'instructor',
  'location',
  'campaign',
  'tag',
  'school',
  'offer',
] as const;
/** A `resync` stands for all changes of a resource by a transaction with too many changes. */
export const eventChanges = [
  ...(['created', 'updated', 'deleted', 'seats_changed', 'merged', 'erased', 'paid', 'credited'] as const),
  ...(['settled', 'swapped', 'moved', 'made', 'accepted', 'declined', 'lapsed', 'resync'] as const),
] as const;

/**
 * The change feed, written by triggers in the transaction of the change. Ids follow commit order within a provider,
 * whose lock is held from before the first id until the commit. The last event before the retention limit stays, so that
 * there is always one to continue from. No foreign keys: each would cost a lookup per event.
 */
export const events = pgTable(
  'events',
  {
    providerId: reference().notNull(),
    id: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    /** The provider's clock in that transaction. */
    at: instant().notNull(),
    resource: operational(text({ enum: eventResources })).notNull(),
    change: operational(text({ enum: eventChanges })).notNull(),
    /** Null for a `resync`. */
    resourceId: reference(),
    /** The item that stays of a `merged`. */
    intoId: reference(),
  },
  (t) => [
    primaryKey({ name: 'events_pk', columns: [t.providerId, t.id] }),
    check('events_into_id', sql`(${t.intoId} is null) = (${t.change} <> 'merged')`),
    check('events_resource_id', sql`(${t.resourceId} is null) = (${t.change} = 'resync')`),
  ],
);
