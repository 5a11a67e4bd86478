import { Type, type Static, type TProperties } from '@sinclair/typebox';
import { ParticipantStatusId } from '../../../core/reference/participant-statuses.ts';
import { ProblemError, ProblemField } from '../../../core/schema/problems.ts';
import { t } from '../../../core/schema/types.ts';
import { Balance } from '../../orders/payments/schema.ts';

const BookedParticipant = t.NamedObject(
  'BookedParticipant',
  t.member.personal.all({ id: Type.Integer(), status_id: ParticipantStatusId }),
);

const bookingSummary = {
  order_id: Type.String(),
  booking_id: Type.String(),
  coursedate_id: Type.String(),
  currency: Type.String({ description: 'In lower case', examples: ['nok'] }),
  total_excl_vat: Type.Number(),
  total_incl_vat: Type.Number(),
  total_vat: Type.Number(),
  number_of_participants: Type.Integer(),
  participants: Type.Array(BookedParticipant),
};
const createSummarySchema = <P extends TProperties>(name: string, members: P) =>
  t.NamedObject(
    name,
    t.member.financial.all({
      successful: Type.Boolean(),
      summary: t.NamedObject(`${name}Summary`, t.member.financial.all(members)),
    }),
  );

/** POST /v2/booking. Amounts are in the order's currency. */
export type BookingResult = Static<typeof BookingResult>;
export const BookingResult = createSummarySchema('Booking', {
  ...bookingSummary,
  paid_by_voucher: Type.Optional(Type.Number({ description: 'Only with a voucher_code: what the voucher paid' })),
  to_pay: Type.Optional(Type.Number({ description: 'Only with a voucher_code: the rest of the total' })),
});

/** GET /v2/booking/:id. Amounts are in the order's currency. */
export type StoredBooking = Static<typeof StoredBooking>;
export const StoredBooking = createSummarySchema('StoredBooking', {
  ...bookingSummary,
  paid_by_voucher: Type.Number({ description: 'The part of the total that a voucher has paid' }),
  to_pay: Type.Number({ description: 'What is left to pay of all its orders' }),
  balance: Type.Optional(Balance),
});

const Include = t.named('BookingInclude', t.OneOf(['balance']));

/** Its parameters. */
export type BookingQuery = Static<typeof BookingQuery>;
export const BookingQuery = Type.Object({
  include: Type.Optional(t.List(Include, { maxItems: 100, description: 'Related data to embed; none unless sent' })),
});

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

/** The fields of a booking request that its quote depends on; any may be missing. */
export type QuoteRequest = {
  coursedate_id?: number | undefined;
  currency?: string | undefined;
  campaign_code?: string | undefined;
  voucher_code?: string | undefined;
  customer_id?: number | undefined;
  waiting_together?: boolean | undefined;
  participants?: QuoteParticipant[] | undefined;
  /** Places of a group without names, instead of participants. */
  places?: number | undefined;
  config?: QuoteConfig | undefined;
};
export type QuoteParticipant = {
  status_id?: 1 | 3 | 7 | undefined;
  products?: number[] | undefined;
  trigger_value?: string | undefined;
};
type QuoteConfig = {
  reject_cancelled_course_date?: boolean | undefined;
  reject_passed_deadline?: boolean | undefined;
  seats_availability_check?: boolean | undefined;
  waiting_list_when_full?: boolean | undefined;
};
