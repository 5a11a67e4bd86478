/** Columns of our responses, so that every peer selects the same ones. */
export const dateFields = [
  ...['id', 'title', 'start_at', 'end_at', 'deadline_at', 'start_time_at', 'end_time_at', 'timezone', 'event_url'],
  ...['external_booking_url', 'is_virtual', 'is_visible', 'visible_when_passed_deadline', 'reference', 'parent_id'],
  ...['trigger_value', 'capacity_max', 'capacity_overbook', 'capacity_wait', 'num_confirmed', 'num_overbooked'],
  ...['num_unconfirmed', 'num_waiting', 'custom_properties', 'created_at', 'updated_at', 'deleted_at', 'course_id'],
  ...['location_id', 'place_id', 'teaching_language_id', 'status_id'],
];

/** Course fields embedded in a course date. */
export const courseHeadFields = [
  ...['id', 'title', 'reference', 'is_active', 'is_full_time', 'is_part_time', 'type', 'level_id'],
  ...['form_of_teaching_id', 'teaching_language_id', 'time_of_day_id', 'duration_value', 'duration_unit_id'],
  ...['price_value', 'price_currency', 'price_comment', 'external_booking_url', 'external_more_info_url'],
  ...['custom_properties', 'visit_address', 'visit_address2', 'visit_zipcode', 'visit_city'],
];

export const courseFields = [
  ...courseHeadFields,
  ...['publishing_platform', 'email_booking', 'email_more_info', 'text_lead', 'text_description', 'text_place'],
  ...['text_prerequisites', 'text_duration', 'text_credits', 'text_submissions', 'text_hotel_info', 'text_audience'],
  ...['created_at', 'updated_at', 'deleted_at', 'related_items_updated_at'],
];

export const locationFields = [
  ...['id', 'place_id', 'instructor_id', 'title', 'custom_title', 'address', 'address2', 'address3', 'zipcode'],
  ...['city', 'state', 'county', 'country', 'lat', 'lng', 'timezone', 'long_text', 'short_text', 'short_text_2'],
  ...['email_booking', 'email_moreinfo', 'cancellation_days', 'capacity_budget', 'capacity_max', 'capacity_min'],
  ...['capacity_overbook', 'capacity_wait', 'notification_days', 'is_archived', 'is_default'],
  ...['is_notification_enabled', 'is_virtual'],
];

export const instructorFields = [
  ...['id', 'firstname', 'lastname', 'phone', 'company', 'position', 'email', 'archived_at'],
];

export const tagFields = ['id', 'title'];

/** Properties compared between servers, in this order. */
export type NormalisedResponse = {
  coursedates: { total: number; items: { id: number; start: string }[] };
  includes: {
    total: number;
    items: { id: number; course: string; tags: string[]; location: string; instructors: string[] }[];
  };
  courses: { items: { id: number; title: string; text: string; tags: string[] }[] };
};
export const queryNames = ['coursedates', 'includes', 'courses'] as const;
export type QueryName = (typeof queryNames)[number];
