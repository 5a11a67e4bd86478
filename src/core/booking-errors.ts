import type { ErrorCode } from './error-codes.ts';
import { Problem, type CodedError } from './errors.ts';

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
