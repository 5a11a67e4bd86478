import { sql } from 'drizzle-orm';
import { bookings } from '../../database/tables/orders.ts';
import { participants } from '../../database/tables/participants.ts';

/** The first participant of the row of `bookings`. */
export const firstParticipantId = sql`(
  select min(p.id) from ${participants} p where p.provider_id = ${bookings.providerId} and p.booking_id = ${bookings.id}
)`;
