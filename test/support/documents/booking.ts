/**
 * Responses of the booking endpoints, as `name: type` per field. Transcribed from the interface document, not from the
 * code, so that the contract test finds missing fields.
 */
export const booking = {
  successful: 'boolean',
  summary: {
    order_id: 'string',
    booking_id: 'string',
    coursedate_id: 'string',
    currency: 'string',
    total_excl_vat: 'number',
    total_incl_vat: 'number',
    total_vat: 'number',
    number_of_participants: 'integer',
    participants: [{ id: 'integer', status_id: 'integer' }],
  },
};

export const failure = {
  successful: 'boolean',
  errors: [{ code: 'string', message: 'string', participant_id: 'integer' }],
  error: 'string',
};

/** `participants` has the Participant table. */
export const linkSent = { successful: 'boolean', booking_id: 'string', email: 'string' };
export const deregistered = { successful: 'boolean', booking_id: 'string' };

export const validCampaign = {
  successful: 'boolean',
  campaign: {
    id: 'string',
    title: 'string|null',
    type: 'string',
    active: 'boolean',
    discount_type: 'string',
    discount_value: 'number',
    currency: 'string',
    expired: 'boolean',
    waiting: 'boolean',
    running: 'boolean',
    campaign_code: 'string|null',
    uses_code: 'boolean',
    is_archived: 'boolean',
  },
};

export const validVoucher = {
  successful: 'boolean',
  voucher: {
    id: 'string',
    currency: 'string',
    code: 'string',
    balance: 'string',
    is_expired: 'boolean',
    is_deleted: 'boolean',
    expires_at: 'string|null',
    archived_at: 'string|null',
    created_at: 'string',
  },
};
