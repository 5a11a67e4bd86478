/** The code of each kind of error. */
export const kindCodes = {
  invalid: 'field_invalid',
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  not_found: 'resource_not_found',
  method_not_allowed: 'method_not_allowed',
  gone: 'read_everything_again',
  too_large: 'body_too_large',
  unsupported_media_type: 'content_type_not_supported',
  too_many_requests: 'too_many_requests',
  headers_too_large: 'headers_too_large',
  internal: 'internal_error',
  unavailable: 'service_unavailable',
} as const;

/** Codes of requests that no kind of error has alone. */
export const requestCodes = [
  'field_unknown',
  'idempotency_key_reused',
  'response_erased',
  'attendance_registered',
  'already_canceled',
  'mail_not_sent',
  'mail_sent_recently',
  'course_has_date',
  'interests_off',
  'too_many_mails',
  ...(['equal_title', 'equal_code', 'equal_username', 'equal_person', 'equal_trigger_value', 'name_taken'] as const),
  ...(['course_has_participants', 'date_has_participants', 'date_closed', 'status_not_possible'] as const),
  ...(['end_before_start', 'deadline_after_end', 'date_in_future', 'nested_children'] as const),
  ...(['customer_not_corporate', 'participant_left', 'person_erased', 'person_ambiguous'] as const),
  ...(['last_administrator', 'same_item'] as const),
  ...(['move_with_credit', 'minutes_without_attendance', 'tag_in_use', 'address_not_public'] as const),
  ...(['keyword_missing', 'since_id_with_order', 'too_many_items', 'response_too_large'] as const),
] as const;

/** The errors of bookings by code; those in lower case follow `Participant n: `. */
export const bookingMessages = {
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
} as const;

/** Codes of bookings, and of looking up codes. */
const bookingCodes = [
  ...(Object.keys(bookingMessages) as (keyof typeof bookingMessages)[]),
  'missing_course_id',
] as const;

/** Codes of changes of an order. */
export const orderCodes = [
  ...(['amount_exceeds_due', 'payment_reference_reused', 'order_exported'] as const),
  ...(['nothing_left_to_credit', 'credit_exceeds_line', 'fee_exceeds_credit', 'amount_with_quantity'] as const),
  ...(['named_twice', 'already_credited', 'quantity_too_small', 'already_paid', 'paid_at_without_payment'] as const),
  ...(['no_payment_to_reverse', 'amount_sign_wrong', 'credit_overpaid', 'currency_differs'] as const),
  ...(['price_unknown', 'amount_below_spent', 'percentage_too_large'] as const),
] as const;

/** Every code of an error. */
export const errorCodes = [...Object.values(kindCodes), ...requestCodes, ...bookingCodes, ...orderCodes];
export type ErrorCode = (typeof errorCodes)[number];
