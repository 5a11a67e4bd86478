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

/** Codes of bookings, and of looking up codes. */
const bookingCodes = [
  'course_date_identifier_invalid',
  'course_date_cancelled',
  'deadline_passed',
  'payment_method_invalid',
  'customer_invalid',
  'participant_count_invalid',
  'participant_name_invalid_empty',
  'participant_email_invalid_empty',
  'participant_products_invalid',
  'too_many_products',
  'participant_does_not_have_a_course_product',
  'participant_have_multiple_course_products',
  'default_course_product_missing',
  'exchange_rate_does_not_exist',
  'campaign_code_invalid',
  'campaign_code_expired',
  'campaign_code_used_up',
  'voucher_code_invalid',
  'voucher_code_expired',
  'order_could_not_be_created',
  'no_seats_available',
  'booking_over',
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
