import { Type, type Static } from '@sinclair/typebox';
import { ProblemError, ProblemField } from '../../../core/schema/problems.ts';
import { t } from '../../../core/schema/types.ts';
import { BookingResult } from './schema.ts';

const { Optional } = Type;
const { summary } = BookingResult.properties;
const { order_id, booking_id, participants } = summary.properties;
const { id, status_id } = participants.items.properties;

/** The answer of `POST /v2/booking` to an item; a dry run has no ids. */
export type BatchResult = Static<typeof BatchResult>;
const BatchResult = t.NamedObject(
  'BatchBookingResult',
  t.member.financial.all({
    status: Type.Integer({ description: 'As of `POST /v2/booking`', examples: [201] }),
    idempotent_replayed: Optional(
      Type.Boolean({ description: 'Only true: the key was used with this booking before' }),
    ),
    successful: Type.Boolean(),
    summary: Optional(
      t.NamedObject(
        'BatchBookingSummary',
        t.member.financial.all({
          ...summary.properties,
          order_id: Optional(order_id),
          booking_id: Optional(booking_id),
          participants: Type.Array(
            t.NamedObject('BatchBookedParticipant', t.member.personal.all({ id: Optional(id), status_id })),
          ),
        }),
      ),
    ),
    fields: Optional(
      Type.Array(ProblemField, {
        description: 'As of the problem details; only if they are accepted',
      }),
    ),
    errors: Optional(
      Type.Array(t.NamedObject('BatchBookingError', t.member.open.all(ProblemError.properties)), {
        description: '`field` and `participant` only if problem details are accepted',
      }),
    ),
    error: Optional(Type.String()),
  }),
);

/** POST /v2/batch/booking. */
export const BatchResults = t.NamedObject(
  'BatchBooking',
  t.member.financial.all({ results: Type.Array(BatchResult, { description: 'In the order of the bookings' }) }),
);
