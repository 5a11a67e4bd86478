import type { TSchema } from '@sinclair/typebox';
import {
  batchCourseDateList,
  courseDateList,
  datesOfCourseList,
  nextCourseDateList,
} from '../../src/domains/courses/coursedates/list.ts';
import { courseItem, courseList } from '../../src/domains/courses/courses/list.ts';
import type { KeyProfile } from '../../src/core/api-key.ts';
import { idsInPath, marker, type Owner } from './isolation.ts';
import { isServed } from './plugin-list.ts';

type Ids = Owner['ids'];

const everyone = ['full', 'read', 'booking', 'publishable'] as const;
const bookers = ['full', 'read', 'booking'] as const;
const booking = ['full', 'booking'] as const;
const readers = ['full', 'read'] as const;
const full = ['full'] as const;

export type Read = {
  route: string;
  /** The profiles that may call it, `readers` unless given. */
  profiles?: readonly KeyProfile[];
  /** Data in a 200 response to the owner: its own, ids without any text, or only data that all providers share. */
  owner: 'own data' | 'ids only' | 'shared data';
  /** The status for any provider but the owner without partner parameters; the response never contains the owner's data. */
  stranger: number;
  /** The item of which an approved partner sees the open members, with partner parameters; nothing without one. */
  partner?: TSchema;
};

const reads: Read[] = [
  { route: 'GET /v2/courses', profiles: everyone, owner: 'own data', stranger: 200, partner: courseList.View },
  { route: 'GET /v2/courses/{id}', profiles: everyone, owner: 'own data', stranger: 404, partner: courseItem.View },
  { route: 'GET /v2/coursedates', profiles: everyone, owner: 'own data', stranger: 200, partner: courseDateList.View },
  {
    route: 'GET /v2/nextcoursedates',
    profiles: everyone,
    owner: 'own data',
    stranger: 200,
    partner: nextCourseDateList.View,
  },
  {
    route: 'GET /v2/batch/coursedates',
    profiles: everyone,
    owner: 'own data',
    stranger: 200,
    partner: batchCourseDateList.View,
  },
  {
    route: 'GET /v2/courses/{course_id}/coursedates',
    profiles: everyone,
    owner: 'own data',
    stranger: 404,
    partner: datesOfCourseList.View,
  },
  { route: 'GET /v2/courses/{course_id}/coursedates/{id}', profiles: everyone, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/courses/{id}/interests', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/coursedates/{id}/attendance', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/locations', profiles: everyone, owner: 'own data', stranger: 200 },
  { route: 'GET /v2/locations/{id}', profiles: everyone, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/instructors', profiles: everyone, owner: 'own data', stranger: 200 },
  { route: 'GET /v2/instructors/{id}', profiles: everyone, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/course-tags', profiles: everyone, owner: 'own data', stranger: 200 },
  { route: 'GET /v2/course-tags/{id}', profiles: everyone, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/customers', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/customers/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/customers/{id}/employees', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/course-users', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/course-users/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/course-users/{id}/export', profiles: full, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/search-users', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/orders', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/orders/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/orders/products', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/payments', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/payments/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/participants', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/participants/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/booking/{id}', profiles: bookers, owner: 'ids only', stranger: 404 },
  { route: 'GET /v2/campaigns', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/campaigns/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/campaigns/validate/{code}', profiles: bookers, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/vouchers', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/vouchers/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/vouchers/validate/{code}', profiles: bookers, owner: 'own data', stranger: 404 },
  { route: 'GET /v2/admin-users', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/admin-users/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/admin-roles', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/app-users', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/schools', profiles: everyone, owner: 'own data', stranger: 200 },
  { route: 'GET /v2/booking-settings', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/catalog-settings', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/whoami', profiles: everyone, owner: 'own data', stranger: 200 },
  { route: 'GET /schools', profiles: bookers, owner: 'own data', stranger: 200 },
  { route: 'GET /v2/mails', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/mails/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/webhooks', owner: 'own data', stranger: 200 },
  { route: 'GET /v2/webhooks/{id}', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/webhooks/{id}/deliveries', owner: 'own data', stranger: 404 },
  { route: 'GET /v2/durations', profiles: everyone, owner: 'shared data', stranger: 200 },
  { route: 'GET /v2/changes', owner: 'ids only', stranger: 200 },
];

/** Includes (or a route with an include) that contain no text of the owner's, and the reason. */
export const includesWithoutText: Record<string, string> = {
  teaching_language: 'the same for all',
  status: 'the same for all',
  attendance: 'ids and timestamps',
  attendance_summary: 'numbers',
  balance: 'numbers',
  bookable: 'a boolean',
  completion_min_share: 'a number',
  hold: 'null',
  'lines.database_relations.participants.hold': 'null',
  waiting: 'a code and numbers',
  'GET /v2/courses/{course_id}/coursedates course.customer': 'a public course has none',
  'GET /v2/courses/{course_id}/coursedates/{id} course.customer': 'a public course has none',
};

/** Routes whose lists have items of all providers, and the reason. */
export const sharedItems: Record<string, string> = {
  'GET /v2/admin-roles': 'every provider has the role of administrators',
};

/** Includes or routes that show another provider nothing of the owner's even without tenancy, and the reason. */
export const hiddenWithoutScope: Record<string, string> = {
  ...includesWithoutText,
  'GET /v2/durations': 'the same for all',
  'GET /v2/changes': 'ids only',
  'GET /v2/schools': "the row of the key's own school, not a list",
  'GET /schools': "the row of the key's own school, not a list",
  'GET /v2/whoami': "the row of the key's own school, not a list",
  labels: 'unset for other providers',
  credit: 'unset for other providers',
  cancellation_message: 'unset for other providers',
  'course.reference_internal': 'unset for other providers',
  'course.customer': 'unset for other providers',
  'lines.database_relations.course': 'unset for other providers',
  'lines.database_relations.participants': 'unset for other providers',
  campaign: 'unset for other providers',
  invoicing: 'unset for other providers',
  employees: 'unset for other providers',
};

const school = { title: 'S', org_nr: '1', phone: '1', email_admin: 'a@b.example' };
const wholeSchool = { ...school, post_address: 'a', post_zip: '1', post_city: 'c', active: 1 };
const named = { firstname: 'Changed', lastname: 'Changed' };
export const days = { start_at: '2031-06-10', end_at: '2031-06-12' };
const meeting = { date: '2031-06-10', time_start: '09:00', time_end: '10:00' };
const payment_method = 'invoice';
const discount = { title: 'Changed', discount_type: 'Percent', discount_value: 10 };
const participant = { ...named, email: 'changed@x.example' };
const email = `${marker}@x.example`;
const mark = (participant_id: number, gathering_id: number) => ({ participant_id, gathering_id, nonce: 'changed' });

const dateBodies = ({ location, instructor, date }: Ids) => [
  { location_id: location },
  { instructors: [instructor] },
  { parent_id: date },
  { gatherings: [{ ...meeting, idLocation: location }] },
  { gatherings: [{ ...meeting, instructors: [instructor] }] },
  { title: 'Changed', status_id: 2 },
];

export type Write = {
  route: string;
  /** The profiles that may call it, `full` unless given. */
  profiles?: readonly KeyProfile[];
  /** Expected status for another provider, per body. */
  stranger: number[];
  /** The statuses that a sub-school of the owner gets, if they differ. */
  subSchool?: number[];
  /** Bodies that refer to the owner's rows by every id, title and address. */
  bodies: (ids: Ids) => object[];
};

const writes: Write[] = [
  {
    route: 'POST /v2/booking',
    profiles: booking,
    stranger: [400, 400],
    bodies: ({ date, customer, product }) => [
      { coursedate_id: date, payment_method, participants: [participant] },
      {
        ...{ coursedate_id: date, customer_id: customer, campaign_code: marker, voucher_code: marker },
        participants: [{ products: [product] }],
      },
    ],
  },
  {
    route: 'PUT /v2/booking/{id}/deregister',
    profiles: booking,
    stranger: [404, 404],
    bodies: () => [{}, { config: { with_fee: 1, send_receipt_email_to_participant: 1 } }],
  },
  {
    route: 'POST /v2/batch/booking',
    profiles: booking,
    stranger: [200],
    bodies: ({ date }) => [{ bookings: [{ coursedate_id: date, payment_method, participants: [participant] }] }],
  },
  { route: 'POST /v2/booking/{id}/link', profiles: booking, stranger: [404], bodies: () => [{}] },
  { route: 'PUT /v2/participants/{id}', stranger: [404, 404], bodies: () => [{ no_show: 1 }, { idStatus: 4 }] },
  {
    route: 'PUT /v2/coursedates/{id}/attendance',
    stranger: [404],
    bodies: (ids) => [{ marks: [mark(ids.participant, ids.gathering)] }],
  },
  {
    route: 'POST /v2/participants/{id}/move',
    stranger: [404],
    bodies: ({ date }) => [{ coursedate_id: date }],
  },
  {
    route: 'POST /v2/courses',
    stranger: [400, 201],
    bodies: ({ customer, tag, label }) => [
      { title: 'By ids', type: 'corporate', customer_id: customer, tags: [tag], labels: [label] },
      { title: marker, tags: [{ title: marker }], labels: [{ title: marker }] },
    ],
  },
  {
    route: 'PUT /v2/courses/{id}',
    stranger: [404, 404, 404],
    bodies: ({ customer, tag, label }) => [
      { text_lead: 'Changed' },
      { type: 'corporate', customer_id: customer, tags: [tag], labels: [label] },
      { title: marker, tags: [{ title: marker }], labels: [{ title: marker }] },
    ],
  },
  { route: 'DELETE /v2/courses/{id}', stranger: [404], bodies: () => [{}] },
  {
    route: 'POST /v2/courses/{id}/interests',
    profiles: booking,
    stranger: [404],
    bodies: () => [{ email: `${marker}@x.example` }],
  },
  { route: 'POST /courses', stranger: [400], bodies: () => [{ title: marker }] },
  {
    route: 'POST /v2/courses/{course_id}/coursedates',
    stranger: [404, 404, 404, 404, 404, 404],
    bodies: (ids) => dateBodies(ids).map((body) => ({ ...days, ...body })),
  },
  {
    route: 'POST /v2/courses/{course_id}/coursedates/{id}/cancel',
    stranger: [404],
    bodies: () => [{ message: 'Changed' }],
  },
  {
    route: 'PUT /v2/courses/{course_id}/coursedates/{id}',
    stranger: [404, 404, 404, 404, 404, 404],
    bodies: dateBodies,
  },
  { route: 'DELETE /v2/courses/{course_id}/coursedates/{id}', stranger: [404], bodies: () => [{}] },
  { route: 'POST /v2/course-tags', stranger: [201], bodies: () => [{ title: 'Changed' }] },
  { route: 'PUT /v2/course-tags/{id}', stranger: [404], bodies: () => [{ title: 'Renamed' }] },
  { route: 'DELETE /v2/course-tags/{id}', stranger: [404], bodies: () => [{}] },
  { route: 'DELETE /v2/admin-users/{id}', stranger: [404], bodies: () => [{}] },
  {
    route: 'POST /v2/locations',
    stranger: [400, 201],
    bodies: ({ instructor }) => [{ title: 'L', idInstructor: instructor }, { title: 'Changed' }],
  },
  {
    route: 'PUT /v2/locations/{id}',
    stranger: [404, 400],
    bodies: ({ instructor }) => [{ title: 'Changed' }, { idInstructor: instructor }],
  },
  {
    route: 'POST /v2/instructors',
    stranger: [400, 201],
    bodies: ({ adminUser }) => [{ ...named, idUser: adminUser }, named],
  },
  {
    route: 'PUT /v2/instructors/{id}',
    stranger: [404, 404, 404],
    bodies: ({ adminUser }) => [{ phone: '1' }, { ...named, idUser: adminUser }, { idUser: null }],
  },
  { route: 'DELETE /v2/instructors/{id}', stranger: [404], bodies: () => [{}] },
  { route: 'POST /v2/orders/{id}/export', stranger: [404], bodies: () => [{}] },
  { route: 'POST /v2/orders/{id}/payments', stranger: [404], bodies: () => [{ amount: 1 }] },
  { route: 'PUT /v2/orders/{id}', stranger: [404, 404], bodies: () => [{ is_paid: true }, { your_reference: 'x' }] },
  { route: 'DELETE /v2/orders/{id}/payments/{payment_id}', stranger: [404], bodies: () => [{}] },
  { route: 'POST /v2/orders/{id}/credit', stranger: [404], bodies: () => [{ reason: 'x' }] },
  {
    route: 'POST /v2/customers',
    stranger: [400, 201],
    bodies: ({ adminUser }) => [{ title: 'C', seller_id: adminUser }, { title: 'Changed' }],
  },
  {
    route: 'PUT /v2/customers/{id}',
    stranger: [404, 404],
    bodies: ({ adminUser }) => [{ title: 'Changed' }, { seller_id: adminUser }],
  },
  {
    route: 'POST /v2/course-users',
    stranger: [400, 201],
    bodies: ({ customer }) => [
      { ...participant, customer_id: customer },
      { ...participant, username: marker },
    ],
  },
  {
    route: 'PUT /v2/course-users/{id}',
    stranger: [404, 404],
    bodies: ({ customer }) => [{ ...participant, username: 'changed' }, { customer_id: customer }],
  },
  { route: 'POST /v2/course-users/{id}/erase', stranger: [404], bodies: () => [{}] },
  {
    route: 'POST /v2/course-users/{id}/merge',
    stranger: [404],
    bodies: ({ user }) => [{ into: user }],
  },
  {
    route: 'POST /v2/customers/{id}/merge',
    stranger: [404],
    bodies: ({ customer }) => [{ into: customer }],
  },
  {
    route: 'POST /v2/campaigns',
    stranger: [400, 201],
    bodies: ({ course, customer, tag }) => [
      { ...discount, courses: [course], customers: [customer], tags: [tag] },
      { ...discount, campaign_code: 'changed' },
    ],
  },
  {
    route: 'PUT /v2/campaigns/{id}',
    stranger: [404, 404],
    bodies: ({ course, customer, tag }) => [
      { max_uses: 1_000 },
      { courses: [course], customers: [customer], tags: [tag] },
    ],
  },
  { route: 'DELETE /v2/campaigns/{id}', stranger: [404], bodies: () => [{}] },
  { route: 'POST /v2/vouchers', stranger: [201], bodies: () => [{ code: 'changed', amount: 1 }] },
  { route: 'PUT /v2/vouchers/{id}', stranger: [404], bodies: () => [{ amount: 200 }] },
  { route: 'DELETE /v2/vouchers/{id}', stranger: [404], bodies: () => [{}] },
  { route: 'PUT /v2/schools', stranger: [200], bodies: () => [wholeSchool] },
  { route: 'PUT /v2/booking-settings', stranger: [200], bodies: () => [{ mails: { reminder: true } }] },
  { route: 'PUT /v2/catalog-settings', stranger: [200], bodies: () => [{ index: false }] },
  { route: 'POST /schools', stranger: [200], subSchool: [400], bodies: () => [wholeSchool] },
  {
    route: 'POST /v2/check-user-credentials',
    stranger: [200],
    bodies: () => [{ username: marker, password: marker, create_login_url: true }],
  },
  {
    route: 'POST /v2/webhooks',
    stranger: [201],
    bodies: () => [{ url: 'https://hooks.example/', is_active: false }],
  },
  { route: 'POST /v2/mails/{id}/resend', stranger: [404], bodies: () => [{}] },
  { route: 'PUT /v2/webhooks/{id}', stranger: [404], bodies: () => [{ description: 'Changed' }] },
  { route: 'POST /v2/webhooks/{id}/test', stranger: [404], bodies: () => [{}] },
  { route: 'POST /v2/webhooks/{id}/rotate', stranger: [404], bodies: () => [{}] },
  { route: 'DELETE /v2/webhooks/{id}', stranger: [404], bodies: () => [{}] },
  {
    route: 'POST /v2/admin-users',
    stranger: [400, 200],
    bodies: ({ role }) => [
      { email, role_ids: [role] },
      { email, role_ids: [1], ...named, position: 'Changed', booking_email: 'c@x.example' },
    ],
  },
];

export const readTable = reads.filter(isServed);
export const writeTable = writes.filter(isServed);

/** The profiles that may call each endpoint. */
export const allowedProfiles: Record<string, readonly KeyProfile[]> = Object.fromEntries([
  ...readTable.map(({ route, profiles = readers }) => [route, profiles] as const),
  ...writeTable.map(({ route, profiles = full }) => [route, profiles] as const),
]);

/** A person is shared by all providers and attached by an e-mail that the caller already knows. */
export const shownAfterWrite: Record<string, string[]> = {
  // A person who is attached has the names as first given.
  'POST /v2/admin-users': ['email', 'firstname', 'lastname'],
  // Sent by the caller, whose school it is unique in.
  'POST /v2/course-users': ['username'],
};

/** The owner's row that a parameter refers to and, for a body, the whole body; or the reason why it refers to none. */
export type IdParameter = [keyof Ids, ((id: number) => object)?] | string;
let created = 0;
const newTitle = () => `Title ${(created += 1)}`;
const dateBodyParameters = (name: string, required: object): Record<string, IdParameter> => ({
  [`${name} path course_id`]: ['course', () => ({ ...required, title: marker })],
  [`${name} body location_id`]: ['location', (id) => ({ ...required, location_id: id })],
  [`${name} body instructors`]: ['instructor', (id) => ({ ...required, instructors: [id] })],
  [`${name} body parent_id`]: ['date', (id) => ({ ...required, parent_id: id })],
  [`${name} body gatherings`]: ['location', (id) => ({ ...required, gatherings: [{ ...meeting, idLocation: id }] })],
});
/** Parameters with an id, by their names in every route. A list compares `since_id` with any id. */
const idsByName: Record<string, IdParameter> = {
  'query since_id': ['course'],
  'query course_id': ['course'],
  'query course_id[]': ['course'],
  'query course_ids[]': ['course'],
  'query coursedate_id': ['date'],
  'query customer_id': ['customer'],
  'query user_id': ['user'],
  'query tag_ids[]': ['tag'],
  'query partner_id': ['provider'],
  'query location_id': ['location'],
  'query instructor_id': ['instructor'],
  'query order_id': ['order'],
  'query booking_id': ['booking'],
  'query participant_id': ['participant'],
  'query campaign_id': ['campaign'],
  'query status_id': 'the same for all',
  'query status_id[]': 'the same for all',
  'query paid_id': 'the same for all',
  'body place_id': 'the same for all',
  'body status_id': 'the same for all',
  'body idStatus': 'the same for all',
  'body idPaid': 'the same for all',
  'body customer_reference_id': 'free text',
  'body external_id': 'free text',
  'query external_id': 'free text',
};

/** Parameters with an id whose name does not say what they refer to, or that need a body. */
export const idTable: Record<string, IdParameter> = {
  'POST /v2/courses body tags': ['tag', (id) => ({ title: newTitle(), tags: [id] })],
  'POST /v2/courses body labels': ['label', (id) => ({ title: newTitle(), labels: [{ id }] })],
  'POST /v2/courses body customer_id': [
    'customer',
    (id) => ({ title: newTitle(), type: 'corporate', customer_id: id }),
  ],
  'PUT /v2/courses/{id} path id': ['course', () => ({ text_lead: 'x' })],
  'PUT /v2/courses/{id} body tags': ['tag', (id) => ({ tags: [id] })],
  'PUT /v2/courses/{id} body labels': ['label', (id) => ({ labels: [{ id }] })],
  'PUT /v2/courses/{id} body customer_id': ['customer', (id) => ({ type: 'corporate', customer_id: id })],
  'POST /v2/locations body idInstructor': ['instructor', (id) => ({ title: 'L', idInstructor: id })],
  'PUT /v2/locations/{id} path id': ['location', () => ({ city: 'x' })],
  'PUT /v2/locations/{id} body idInstructor': ['instructor', (id) => ({ idInstructor: id })],
  'PUT /v2/course-tags/{id} path id': ['tag', () => ({ title: newTitle() })],
  'POST /v2/instructors body idUser': ['adminUser', (id) => ({ ...named, idUser: id })],
  'PUT /v2/instructors/{id} path id': ['instructor', () => ({ phone: '1' })],
  'POST /v2/campaigns body courses': ['course', (id) => ({ ...discount, courses: [id] })],
  'POST /v2/campaigns body customers': ['customer', (id) => ({ ...discount, customers: [id] })],
  'POST /v2/campaigns body tags': ['tag', (id) => ({ ...discount, tags: [id] })],
  'PUT /v2/campaigns/{id} path id': ['campaign', () => ({ max_uses: 1_000 })],
  'PUT /v2/campaigns/{id} body courses': ['course', (id) => ({ courses: [id] })],
  'PUT /v2/campaigns/{id} body customers': ['customer', (id) => ({ customers: [id] })],
  'PUT /v2/campaigns/{id} body tags': ['tag', (id) => ({ tags: [id] })],
  'PUT /v2/vouchers/{id} path id': ['voucher', () => ({ amount: 200 })],
  'POST /v2/mails/{id}/resend path id': ['mail', () => ({})],
  'PUT /v2/webhooks/{id} path id': ['webhook', () => ({ description: 'x' })],
  'POST /v2/webhooks/{id}/test path id': ['webhook', () => ({})],
  'POST /v2/webhooks/{id}/rotate path id': ['webhook', () => ({})],
  'DELETE /v2/webhooks/{id} path id': ['webhookToDelete'],
  'DELETE /v2/course-tags/{id} path id': ['tagToDelete'],
  'POST /v2/orders/{id}/export path id': ['toExport', () => ({})],
  'PUT /v2/orders/{id} path id': ['order', () => ({ your_reference: 'x' })],
  'POST /v2/orders/{id}/credit path id': ['order', () => ({ lines: [{ line_id: 999_999_999 }] })],
  'POST /v2/orders/{id}/credit body lines': ['line', (id) => ({ lines: [{ line_id: id }] })],
  'POST /v2/orders/{id}/payments path id': ['order', () => ({ amount: 1 })],
  'DELETE /v2/orders/{id}/payments/{payment_id} path id': ['order'],
  'DELETE /v2/orders/{id}/payments/{payment_id} path payment_id': ['payment'],
  'POST /v2/booking body coursedate_id': [
    'date',
    (id) => ({ coursedate_id: id, payment_method, participants: [participant] }),
  ],
  'POST /v2/booking body customer_id': ['customer', (id) => ({ customer_id: id })],
  'POST /v2/booking body participants': ['product', (id) => ({ participants: [{ ...participant, products: [id] }] })],
  'PUT /v2/booking/{id}/deregister path id': ['booking', () => ({})],
  'PUT /v2/booking/{id}/deregister body participants': ['participant', (id) => ({ participants: [id] })],
  'POST /v2/batch/booking body bookings': [
    'date',
    (id) => ({ bookings: [{ coursedate_id: id, payment_method, participants: [participant] }] }),
  ],
  'POST /v2/booking/{id}/link path id': ['booking', () => ({})],
  'POST /v2/courses/{id}/interests path id': ['course', () => ({ email: 'ola@x.example' })],
  'PUT /v2/coursedates/{id}/attendance path id': ['date', () => ({ marks: [mark(1, 1)] })],
  'PUT /v2/coursedates/{id}/attendance body marks': 'the results repeat the ids',
  'PUT /v2/participants/{id} path id': ['participant', () => ({ no_show: 1 })],
  'POST /v2/participants/{id}/move path id': ['participant', () => ({ coursedate_id: 1 })],
  'POST /v2/participants/{id}/move body coursedate_id': ['date', (id) => ({ coursedate_id: id })],
  'POST /v2/customers body seller_id': ['adminUser', (id) => ({ title: 'C', seller_id: id })],
  'PUT /v2/customers/{id} path id': ['customer', () => ({ note: 'x' })],
  'PUT /v2/customers/{id} body seller_id': ['adminUser', (id) => ({ seller_id: id })],
  'POST /v2/course-users body customer_id': ['customer', (id) => ({ ...participant, customer_id: id })],
  'PUT /v2/course-users/{id} path id': ['user', () => ({ phone: '1' })],
  'PUT /v2/course-users/{id} body customer_id': ['customer', (id) => ({ customer_id: id })],
  'POST /v2/course-users/{id}/erase path id': ['userToErase', () => ({ dry_run: true })],
  'POST /v2/course-users/{id}/merge path id': ['userToMerge', () => ({ into: 1, dry_run: true })],
  'POST /v2/customers/{id}/merge path id': ['customerToMerge', () => ({ into: 1, dry_run: true })],
  'PUT /v2/courses/{course_id}/coursedates/{id} path id': ['date', () => ({ title: marker })],
  'POST /v2/courses/{course_id}/coursedates/{id}/cancel path course_id': ['course', () => ({})],
  'POST /v2/courses/{course_id}/coursedates/{id}/cancel path id': ['date', () => ({})],
  ...dateBodyParameters('POST /v2/courses/{course_id}/coursedates', days),
  ...dateBodyParameters('PUT /v2/courses/{course_id}/coursedates/{id}', {}),
  'PUT /v2/courses/{course_id}/coursedates/{id} body parent_id': 'none for a date that is a parent itself',
  'PUT /v2/instructors/{id} body idUser': ['adminUser', (id) => ({ idUser: id })],
  'POST /v2/admin-users body role_ids': ['role', (id) => ({ email: 'x@x.example', role_ids: [id], ...named })],
};

/** Every parameter with an id: another provider gets the same response for the owner's id and an unknown id. */
export function findIdParameter(route: string, parameter: string): IdParameter | undefined {
  const [method, path = ''] = route.split(' ');
  const [where, name = ''] = parameter.split(' ');
  const inPath = where === 'path' && (method === 'GET' || method === 'DELETE') ? idsInPath(path)[name] : undefined;
  return idTable[`${route} ${parameter}`] ?? idsByName[parameter] ?? (inPath && [inPath]);
}

/** Query parameters that a list requires. */
export const requiredQuery = ({ course }: Ids): Record<string, string> => ({
  'GET /v2/search-users': `lastname=${marker}`,
  'GET /v2/batch/coursedates': `course_ids=${course}`,
});
