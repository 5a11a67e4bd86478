import { Type, type Static, type TProperties } from '@sinclair/typebox';
import type { ErrorCode } from '../../core/error-codes.ts';
import { t } from '../../core/schema/types.ts';
import { Problem, type CodedError } from '../../core/errors.ts';
import { dayText } from '../order-lines/schema.ts';
import { ParticipantStatusId } from '../participants/schema.ts';

/** Error codes of bookings; those in lower case follow `Participant n: `. */
const messages = {
  course_date_identifier_invalid: 'coursedate_id names no course date that can be booked',
  course_date_cancelled: 'The course date is canceled',
  deadline_passed: 'The deadline of the course date has passed',
  payment_method_invalid: 'payment_method must be invoice',
  customer_invalid: 'customer_id names no active customer',
  participant_count_invalid: 'There must be 1 to 1000 participants',
  participant_name_invalid_empty: 'a firstname and a lastname of 255 characters at most are needed',
  participant_email_invalid_empty: 'a valid e-mail address is needed',
  participant_products_invalid: 'products names what cannot be sold',
  too_many_products: 'The participants name more than 10,000 products in all',
  participant_does_not_have_a_course_product: 'none of the products is one of the course',
  participant_have_multiple_course_products: 'more than one of the products is one of the course',
  default_course_product_missing: 'The course has no main product that can be sold',
  exchange_rate_does_not_exist: 'A product is not sold in this currency',
  campaign_code_invalid: 'The campaign code is not valid for this booking',
  campaign_code_expired: 'The campaign has ended',
  campaign_code_used_up: 'The campaign has been used up',
  voucher_code_invalid: 'The voucher code is not valid for this booking',
  voucher_code_expired: 'The voucher has expired',
  order_could_not_be_created: 'The total of the order is too large',
  no_seats_available: 'no seat is available',
  booking_over: 'The courses of the booking are over',
} as const satisfies Partial<Record<ErrorCode, string>>;
export type BookingCode = keyof typeof messages;

export const bookingError = (code: BookingCode): CodedError => ({ code, message: messages[code] });

export const placesError: CodedError = {
  code: 'participant_count_invalid',
  message: 'There must be 1 to 200 places, without participants',
};

/** `index` counts from 0, the message from 1. */
export const participantError = (index: number, code: BookingCode): CodedError => ({
  code,
  message: `${participantLabel(index)}: ${messages[code]}`,
});
export const fieldError = (field: string, index?: number): CodedError => ({
  code: 'field_invalid',
  field: index === undefined ? field : `participants[${index}].${field}`,
  message: index === undefined ? `${field} is not valid` : `${participantLabel(index)}: ${field} is not valid`,
});
const participantLabel = (index: number) => `Participant ${index + 1}`;

/** The error of a rejected booking, with each error once. */
export function bookingProblem(errors: CodedError[]) {
  const toKey = ({ code, message, participantId }: CodedError) => `${code} ${participantId} ${message}`;
  const unique = [...new Map(errors.map((one) => [toKey(one), one])).values()];
  const listFields = (missing: boolean) => [
    ...new Set(errors.flatMap(({ field, isMissing = false }) => (isMissing === missing ? (field ?? []) : []))),
  ];
  const unknown = errors.flatMap((one) => one.unknown ?? []);
  const fields = { missing: listFields(true), notValid: listFields(false), unknown };
  return new Problem('invalid', unique[0]!.message, { errors: unique, ...fields });
}

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

/** The days and the place of a course date, for its order. */
export const detailedOrderTitle = (startAt: string, endAt: string, place: string | null) =>
  [dayText(startAt), dayText(endAt), ...(place ? [place] : [])].join(' - ');
