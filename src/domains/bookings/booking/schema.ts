import { Type, type Static, type TProperties } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { ParticipantStatusId } from '../../../core/reference/participant-statuses.ts';

const BookedParticipant = t.NamedObject(
  'BookedParticipant',
  t.member.personal.all({ id: Type.Integer(), status_id: ParticipantStatusId }),
);

export const bookingSummary = {
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
export const createSummarySchema = <P extends TProperties>(name: string, members: P) =>
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
