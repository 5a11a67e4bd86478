type DemoTexts = {
  lead?: string;
  description?: string;
  place?: string;
  prerequisites?: string;
  duration?: string;
  credits?: string;
  submissions?: string;
  hotelInfo?: string;
  audience?: string;
};

/** The body of POST /v2/courses, with internal fields. */
export type DemoCourse = {
  title: string;
  reference?: string;
  active?: boolean;
  is_full_time?: boolean;
  is_part_time?: boolean;
  level?: number;
  form_of_teaching?: number;
  teaching_language?: string;
  time_of_day?: number;
  duration_value?: number;
  duration_unit?: number;
  price_value?: number;
  price_currency?: string;
  price_comment?: string;
  /** Titles. */
  tags?: string[];
  /** Titles. */
  labels?: string[];
  /** Slugs of leaf categories. */
  categories: string[];
  text_lead?: string;
  text_description?: string;
  text_place?: string;
  text_prerequisites?: string;
  text_duration?: string;
  text_credits?: string;
  text_submissions?: string;
  text_hotel_info?: string;
  text_audience?: string;
  email_booking?: string;
  email_more_info?: string;
  external_booking_url?: string;
  external_more_info_url?: string;
  type?: 'public' | 'internal' | 'corporate';
  publishing_platform?: 'both' | 'catalog' | 'own';
  /** Ref of a demo customer, with type corporate. */
  customer?: string;
  /** Of its product; prices exclude it. */
  vat_percentage?: number;
  visit_address?: string;
  visit_address2?: string;
  visit_zipcode?: string;
  visit_city?: string;
  /** Language code → texts. */
  translations?: Record<string, DemoTexts>;
  custom_properties?: Record<string, string>;
};

export type DemoSchool = {
  title: string;
  org_nr: string;
  phone: string;
  email_admin: string;
  email?: string;
  email_booking?: string;
  email_more_info?: string;
  post_address: string;
  post_zip: string;
  post_city: string;
  visit_address?: string;
  visit_zip?: string;
  visit_city?: string;
  reference?: string;
  web_address?: string;
  text_tagline?: string;
  text_description?: string;
};

export type DemoProvider = { school: DemoSchool; courses: DemoCourse[] };

export type DemoCategory = {
  slug: string;
  title: string;
  /** Slug of the category above. */
  parent?: string;
};
