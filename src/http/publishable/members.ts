/**
 * The members that an answer to a publishable key may have, by the name of the object in the OpenAPI document; an object
 * without a name has that of its parent and member, or the operation's. A member that is not named here is left out.
 */
export const publicMembers: Record<string, readonly string[]> = {
  ...forCourses(),
  ...forDates(),
  ...forPlaces(),
  Instructor: ['id', 'firstname', 'lastname'],
  EmbeddedInstructor: ['id', 'title', 'name', 'fullname'],

  School: [
    ...['title', 'org_nr', 'post_address', 'visit_address', 'web_address', 'text_tagline', 'text_description'],
    'updated_at',
  ],
  SchoolAddress: ['address', 'zip', 'city'],
  Provider: ['id', 'title', 'web_address', 'catalog_url'],
  getSchool: ['school'],

  WhoAmI: ['provider', 'key', 'rate_limit', 'timezone', 'server_time', 'version'],
  KeyProvider: ['id', 'title'],
  'WhoAmI.key': ['id', 'profile', 'expires_at'],
  'WhoAmI.rate_limit': ['per_second', 'burst'],

  Pagination: ['total_items', 'per_page', 'current_page', 'total_pages', 'previous_page', 'next_page'],
};

function forCourses() {
  const embedded = [
    ...['id', 'title', 'catalog_url', 'is_full_time', 'is_part_time', 'level', 'form_of_teaching'],
    ...['teaching_language', 'time_of_day', 'duration', 'price', 'categories', 'tags', 'products'],
    ...['external_booking_url', 'external_more_info_url'],
    ...['visit_address', 'visit_address2', 'visit_zipcode', 'visit_city'],
  ];
  const course = [...embedded, 'descriptions', 'description_languages', 'updated_at', 'provider'];
  const titled = ['id', 'title'];
  return {
    Course: course,
    CourseDetails: course,
    EmbeddedCourse: embedded,
    NextCourseDateCourse: embedded,
    CourseLevel: titled,
    FormOfTeaching: titled,
    Language: titled,
    TimeOfDay: titled,
    Tag: titled,
    CourseDuration: ['value', 'code', 'unit'],
    CoursePrice: ['value', 'currency', 'comment'],
    CourseDescriptions: [
      ...['lead', 'description', 'place', 'prerequisites', 'duration', 'credits', 'submissions', 'hotelInfo'],
      'audience',
    ],
    Category: ['id', 'title', 'idParent', 'titleParent'],
    Product: ['id', 'title', 'title_label', 'price', 'currency', 'is_main_product', 'vat_percentage'],
    listCourses: ['pagination', 'items'],
  };
}

function forDates() {
  const date = [
    ...['coursedate_id', 'title', 'start_at', 'end_at', 'deadline_at', 'start_time_at', 'end_time_at', 'timezone'],
    ...['external_booking_url', 'is_virtual', 'catalog_url', 'seats_status', 'seats', 'updated_at', 'course_id'],
    ...['location_id', 'place_id', 'teaching_language_id', 'status_id'],
  ];
  const included = [
    ...['course', 'location', 'gatherings', 'place', 'teaching_language', 'status', 'instructors', 'subinstances'],
    ...['bundle', 'provider'],
  ];
  return {
    CourseDate: [...date, ...included],
    CourseDateOfCourse: [...date, ...included],
    NextCourseDate: [...date, ...included],
    EmbeddedCourseDate: date,
    Seats: ['free'],
    'Seats.free': ['num'],
    CourseDateStatus: ['id', 'idType', 'title'],
    Bundle: ['id', 'title', 'items'],
    Gathering: [
      ...['id', 'idInstance', 'gathering_at', 'gathering_end_at', 'idLocation', 'description', 'theme', 'is_future'],
      ...['instructors', 'location'],
    ],
    listCourseDates: ['pagination', 'items'],
  };
}

function forPlaces() {
  return {
    Location: [
      ...['id', 'title', 'custom_title', 'address', 'address2', 'address3', 'zipcode', 'city', 'state', 'county'],
      ...['country', 'country_code', 'idCountry', 'idPlace', 'place', 'lat', 'lng', 'timezone', 'long_text'],
      ...['short_text', 'short_text_2', 'instructor', 'full_address', 'is_virtual'],
    ],
    Place: ['id', 'idParent', 'title', 'parent', 'idCountry', 'country'],
    'Place.parent': ['id', 'idParent', 'title'],
    CourseDatePlace: ['id', 'title', 'title_additional_info', 'parent_id', 'parent_title'],
    DurationUnit: ['id', 'code', 'title', 'title_plural'],
  };
}
