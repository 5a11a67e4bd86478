import { course, courseIncludes } from '../document.ts';
import { customer } from './people.ts';

/**
 * Course date, Location and Instructor of the interface document, as `name: type` per field, with the documented
 * additions (embedded instructor, place and course; gathering, bundle). Transcribed from the document, not from the
 * code.
 */
export const instructor = {
  id: 'integer',
  firstname: 'string',
  lastname: 'string',
  phone_prefix: 'string',
  phone: 'string',
  email: 'string',
  position: 'string',
  company: 'string',
  description: 'string',
  show_on_web: 'boolean',
  idUser: 'integer|null',
  archived_at: 'string|null',
  created_at: 'string',
};

const embeddedInstructor = {
  id: 'integer',
  title: 'string',
  name: 'string',
  fullname: 'string',
  phone: 'string',
  company: 'string',
  position: 'string',
  email: 'string',
  is_archived: 'boolean',
};

export const location = {
  id: 'integer',
  title: 'string|null',
  custom_title: 'string|null',
  address: 'string|null',
  address2: 'string|null',
  address3: 'string|null',
  zipcode: 'string|null',
  city: 'string|null',
  state: 'string',
  county: 'string',
  country: 'string',
  country_code: 'string',
  idCountry: 'string',
  idPlace: 'integer',
  'place|null': {
    id: 'string',
    idParent: 'string',
    title: 'string',
    'parent|null': { id: 'string', idParent: 'string', title: 'string' },
    idCountry: 'string',
    country: 'string',
  },
  lat: 'number',
  lng: 'number',
  timezone: 'string|null',
  long_text: 'string|null',
  short_text: 'string|null',
  short_text_2: 'string|null',
  idInstructor: 'integer|null',
  'instructor|null': embeddedInstructor,
  full_address: 'string|null',
  email_booking: 'string|null',
  email_moreinfo: 'string|null',
  cancellation_days: 'integer',
  capacity_budget: 'integer',
  capacity_max: 'integer',
  capacity_min: 'integer',
  capacity_overbook: 'integer',
  capacity_wait: 'integer',
  is_archived: 'boolean',
  is_default: 'boolean',
  is_notification_enabled: 'boolean',
  is_virtual: 'boolean',
  notification_days: 'integer',
  notification_role: 'integer|null',
};

export const courseDate = {
  coursedate_id: 'integer',
  title: 'string',
  start_at: 'string',
  end_at: 'string',
  deadline_at: 'string',
  start_time_at: 'string|null',
  end_time_at: 'string|null',
  timezone: 'string|null',
  event_url: 'string|null',
  external_booking_url: 'string|null',
  is_virtual: 'boolean',
  is_visible: 'boolean',
  catalog_url: 'string|null',
  visible_when_passed_deadline: 'boolean',
  reference: 'string|null',
  parent_id: 'integer|null',
  trigger_value: 'string|null',
  seats_status: 'string',
  seats: {
    allocated_capacity: { num: 'integer', num_overbooked: 'integer', num_waiting: 'integer' },
    free: { num: 'integer', num_waiting: 'integer' },
    booking_status: {
      num: 'integer',
      num_confirmed: 'integer',
      num_unconfirmed: 'integer',
      num_waiting: 'integer',
    },
  },
  'custom_properties|null': {},
  created_at: 'string|null',
  updated_at: 'string|null',
  deleted_at: 'string|null',
  contacts: [{}],
  course_id: 'integer',
  location_id: 'integer|null',
  place_id: 'integer|null',
  teaching_language_id: 'string',
  status_id: 'integer',
};

/** The Course without the fields that its embedded form omits. */
const embeddedCourse = {
  id: course.id,
  title: course.title,
  reference: course.reference,
  is_active: course.is_active,
  catalog_url: course.catalog_url,
  is_full_time: course.is_full_time,
  is_part_time: course.is_part_time,
  lessons_hours: course.lessons_hours,
  type: course.type,
  level: course.level,
  form_of_teaching: course.form_of_teaching,
  teaching_language: course.teaching_language,
  'time_of_day|null': course['time_of_day|null'],
  'duration|null': course['duration|null'],
  price: course.price,
  categories: course.categories,
  external_booking_url: course.external_booking_url,
  external_more_info_url: course.external_more_info_url,
  tags: course.tags,
  'custom_properties|null': course['custom_properties|null'],
  visit_address: course.visit_address,
  visit_address2: course.visit_address2,
  visit_zipcode: course.visit_zipcode,
  visit_city: course.visit_city,
};

const gathering = {
  id: 'integer',
  idInstance: 'integer',
  gathering_at: 'string',
  gathering_end_at: 'string',
  idLocation: 'integer|null',
  description: 'string|null',
  theme: 'string|null',
  event_url: 'string|null',
  created_at: 'string',
  updated_at: 'string',
  is_future: 'boolean',
  instructors: [embeddedInstructor],
  'location|null': location,
};

/** Added by `include`. */
export const courseDateIncludes = {
  'course|null': { ...embeddedCourse, 'customer|null': customer, products: courseIncludes.products },
  'location|null': location,
  gatherings: [gathering],
  place: {
    id: 'integer',
    title: 'string',
    title_additional_info: 'string|null',
    parent_id: 'integer|null',
    parent_title: 'string|null',
  },
  teaching_language: { id: 'string', title: 'string' },
  status: { id: 'integer', idType: 'integer', title: 'string' },
  instructors: [embeddedInstructor],
  subinstances: [courseDate],
  'bundle|null': { id: 'integer', title: 'string', items: [courseDate] },
  provider: courseIncludes.provider,
};

/** In the calendar a course may include its internal reference, but not its customer. */
export const nextCourseDateIncludes = {
  ...courseDateIncludes,
  'course|null': { ...embeddedCourse, products: courseIncludes.products, reference_internal: 'string|null' },
};

/** Response of course date writes. */
export const courseDateWritten = { coursedate_id: 'integer', course_id: 'integer' };
