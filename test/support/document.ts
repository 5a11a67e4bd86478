/**
 * Resource tables of the interface document, as `name: type` per field. Transcribed from the document, not from the
 * code, so that the contract test finds missing fields.
 */
const address = { address: 'string', zip: 'string', city: 'string' };
const titled = { id: 'integer', title: 'string' };

export const course = {
  id: 'integer',
  title: 'string',
  reference: 'string|null',
  is_active: 'boolean',
  catalog_url: 'string|null',
  is_full_time: 'boolean',
  is_part_time: 'boolean',
  lessons_hours: 'null',
  type: 'string',
  level: titled,
  form_of_teaching: titled,
  teaching_language: { id: 'string', title: 'string' },
  'time_of_day|null': titled,
  publishing_platform: 'string',
  'duration|null': { value: 'number', code: 'string', unit: 'string' },
  price: { value: 'number', currency: 'string', comment: 'string|null' },
  categories: [{ id: 'integer', title: 'string', idParent: 'integer', titleParent: 'string' }],
  external_booking_url: 'string|null',
  external_more_info_url: 'string|null',
  descriptions: {
    lead: 'string',
    description: 'string',
    place: 'string',
    prerequisites: 'string',
    duration: 'string',
    credits: 'string',
    submissions: 'string',
    hotelInfo: 'string',
    audience: 'string',
  },
  lead_settings: { email_booking: 'string', email_more_info: 'string' },
  tags: [titled],
  'custom_properties|null': {},
  description_languages: ['string'],
  visit_address: 'string|null',
  visit_address2: 'string|null',
  visit_zipcode: 'string|null',
  visit_city: 'string|null',
  created_at: 'string|null',
  updated_at: 'string|null',
  deleted_at: 'string|null',
  related_items_updated_at: 'string|null',
};

/** Added by `include`. */
export const courseIncludes = {
  products: [
    {
      id: 'integer',
      item_number: 'string',
      title: 'string',
      title_label: 'string|null',
      price: 'number',
      currency: 'string',
      is_main_product: 'boolean',
      vat_percentage: 'number',
    },
  ],
  provider: { id: 'integer', title: 'string', web_address: 'string', catalog_url: 'string|null' },
  completion_min_share: 'number|null',
};

/** GET /v2/courses/:id adds the labels. */
export const courseItemIncludes = {
  products: courseIncludes.products,
  labels: [titled],
  provider: courseIncludes.provider,
  completion_min_share: courseIncludes.completion_min_share,
};

export const duration = { id: 'string', code: 'string', title: 'string', title_plural: 'string' };

export const legacySchool = {
  title: 'string',
  active: 'boolean',
  reference: 'string|null',
  org_nr: 'string',
  phone: 'string',
  email_admin: 'string',
  email_booking: 'string',
  email_more_info: 'string',
  post_address: address,
  visit_address: address,
  web_address: 'string',
  text_tagline: 'string',
  text_description: 'string',
};
export const school = { ...legacySchool, created_at: 'string', updated_at: 'string' };

export const courseTag = titled;
