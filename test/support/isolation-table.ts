import type { TSchema } from '@sinclair/typebox';
import {
  batchCourseDateList,
  courseDateList,
  datesOfCourseList,
  nextCourseDateList,
} from '../../src/domains/courses/coursedates/list.ts';
import { courseItem, courseList } from '../../src/domains/courses/courses/list.ts';
import type { KeyProfile } from '../../src/core/api-key.ts';
import { documentedEndpoints, idsInPath, marker, type Owner } from './isolation.ts';
import { isServed } from './plugin-list.ts';
import { findWriteEndpoint } from './request-bodies.ts';

type Ids = Owner['ids'];

const everyone = ['full', 'read', 'booking', 'publishable'] as const;
const bookers = ['full', 'read', 'booking'] as const;
const booking = ['full', 'booking'] as const;
const readers = ['full', 'read'] as const;
const full = ['full'] as const;

export type Read = {
  route: string;
  /** The profiles that may call it, `readers` by default. */
  profiles: readonly KeyProfile[];
  /** Data in a 200 response to the owner: its own, by default, ids without any text, or only data that all providers share. */
  owner: 'own data' | 'ids only' | 'shared data';
  /**
   * The status for any provider but the owner without partner parameters, by default 404 for a path with an id, else 200;
   * the response never contains the owner's data.
   */
  stranger: number;
  /** The item of which an approved partner sees the open members, with partner parameters; nothing without one. */
  partner?: TSchema;
};

/** Exceptions; other routes have the defaults. */
const reads: Record<string, Partial<Read>> = {
  'GET /v2/courses': { profiles: everyone, partner: courseList.View },
  'GET /v2/courses/{id}': { profiles: everyone, partner: courseItem.View },
  'GET /v2/coursedates': { profiles: everyone, partner: courseDateList.View },
  'GET /v2/nextcoursedates': { profiles: everyone, partner: nextCourseDateList.View },
  'GET /v2/batch/coursedates': { profiles: everyone, partner: batchCourseDateList.View },
  'GET /v2/courses/{course_id}/coursedates': { profiles: everyone, partner: datesOfCourseList.View },
  'GET /v2/courses/{course_id}/coursedates/{id}': { profiles: everyone },
  'GET /v2/locations': { profiles: everyone },
  'GET /v2/locations/{id}': { profiles: everyone },
  'GET /v2/instructors': { profiles: everyone },
  'GET /v2/instructors/{id}': { profiles: everyone },
  'GET /v2/course-tags': { profiles: everyone },
  'GET /v2/course-tags/{id}': { profiles: everyone },
  'GET /v2/course-users/{id}/export': { profiles: full },
  'GET /v2/booking/{id}': { profiles: bookers, owner: 'ids only' },
  'GET /v2/campaigns/validate/{code}': { profiles: bookers },
  'GET /v2/vouchers/validate/{code}': { profiles: bookers },
  'GET /v2/schools': { profiles: everyone },
  'GET /v2/whoami': { profiles: everyone },
  'GET /schools': { profiles: bookers },
  'GET /v2/durations': { profiles: everyone, owner: 'shared data' },
  'GET /v2/changes': { owner: 'ids only' },
};

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
  /** The profiles that may call it, `full` by default. */
  profiles: readonly KeyProfile[];
  /** Expected status for another provider, per body; by default 404 for a path with an id, else 201. */
  stranger: number[];
  /** The statuses that a sub-school of the owner gets, if they differ. */
  subSchool?: number[];
  /** Bodies that refer to the owner's rows by every id, title and address; by default the documented fields without an id. */
  bodies: (ids: Ids) => object[];
};

const countBodies = (bodies: Write['bodies']) => bodies({} as Ids).length;

/** Exceptions; other routes have the defaults. */
const writes: Record<string, Partial<Write>> = {
  'POST /v2/booking': {
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
  'PUT /v2/booking/{id}/deregister': {
    profiles: booking,
    bodies: () => [{}, { config: { with_fee: 1, send_receipt_email_to_participant: 1 } }],
  },
  'POST /v2/batch/booking': {
    profiles: booking,
    stranger: [200],
    bodies: ({ date }) => [{ bookings: [{ coursedate_id: date, payment_method, participants: [participant] }] }],
  },
  'POST /v2/booking/{id}/link': { profiles: booking },
  'PUT /v2/participants/{id}': { bodies: () => [{ no_show: 1 }, { idStatus: 4 }] },
  'PUT /v2/coursedates/{id}/attendance': { bodies: (ids) => [{ marks: [mark(ids.participant, ids.gathering)] }] },
  'POST /v2/participants/{id}/move': { bodies: ({ date }) => [{ coursedate_id: date }] },
  'POST /v2/courses': {
    stranger: [400, 201],
    bodies: ({ customer, tag, label }) => [
      { title: 'By ids', type: 'corporate', customer_id: customer, tags: [tag], labels: [label] },
      { title: marker, tags: [{ title: marker }], labels: [{ title: marker }] },
    ],
  },
  'PUT /v2/courses/{id}': {
    bodies: ({ customer, tag, label }) => [
      { text_lead: 'Changed' },
      { type: 'corporate', customer_id: customer, tags: [tag], labels: [label] },
      { title: marker, tags: [{ title: marker }], labels: [{ title: marker }] },
    ],
  },
  'POST /v2/courses/{id}/interests': { profiles: booking, bodies: () => [{ email: `${marker}@x.example` }] },
  'POST /courses': { stranger: [400], bodies: () => [{ title: marker }] },
  'POST /v2/courses/{course_id}/coursedates': {
    bodies: (ids) => dateBodies(ids).map((body) => ({ ...days, ...body })),
  },
  'POST /v2/courses/{course_id}/coursedates/{id}/cancel': { bodies: () => [{ message: 'Changed' }] },
  'PUT /v2/courses/{course_id}/coursedates/{id}': { bodies: dateBodies },
  'POST /v2/course-tags': { stranger: [201], bodies: () => [{ title: 'Changed' }] },
  'PUT /v2/course-tags/{id}': { bodies: () => [{ title: 'Renamed' }] },
  'POST /v2/locations': {
    stranger: [400, 201],
    bodies: ({ instructor }) => [{ title: 'L', idInstructor: instructor }, { title: 'Changed' }],
  },
  'PUT /v2/locations/{id}': {
    stranger: [404, 400],
    bodies: ({ instructor }) => [{ title: 'Changed' }, { idInstructor: instructor }],
  },
  'POST /v2/instructors': { stranger: [400, 201], bodies: ({ adminUser }) => [{ ...named, idUser: adminUser }, named] },
  'PUT /v2/instructors/{id}': {
    bodies: ({ adminUser }) => [{ phone: '1' }, { ...named, idUser: adminUser }, { idUser: null }],
  },
  'POST /v2/orders/{id}/payments': { bodies: () => [{ amount: 1 }] },
  'PUT /v2/orders/{id}': { bodies: () => [{ is_paid: true }, { your_reference: 'x' }] },
  'POST /v2/orders/{id}/credit': { bodies: () => [{ reason: 'x' }] },
  'POST /v2/customers': {
    stranger: [400, 201],
    bodies: ({ adminUser }) => [{ title: 'C', seller_id: adminUser }, { title: 'Changed' }],
  },
  'PUT /v2/customers/{id}': { bodies: ({ adminUser }) => [{ title: 'Changed' }, { seller_id: adminUser }] },
  'POST /v2/course-users': {
    stranger: [400, 201],
    bodies: ({ customer }) => [
      { ...participant, customer_id: customer },
      { ...participant, username: marker },
    ],
  },
  'PUT /v2/course-users/{id}': {
    bodies: ({ customer }) => [{ ...participant, username: 'changed' }, { customer_id: customer }],
  },
  'POST /v2/course-users/{id}/merge': { bodies: ({ user }) => [{ into: user }] },
  'POST /v2/customers/{id}/merge': { bodies: ({ customer }) => [{ into: customer }] },
  'POST /v2/campaigns': {
    stranger: [400, 201],
    bodies: ({ course, customer, tag }) => [
      { ...discount, courses: [course], customers: [customer], tags: [tag] },
      { ...discount, campaign_code: 'changed' },
    ],
  },
  'PUT /v2/campaigns/{id}': {
    bodies: ({ course, customer, tag }) => [
      { max_uses: 1_000 },
      { courses: [course], customers: [customer], tags: [tag] },
    ],
  },
  'POST /v2/vouchers': { stranger: [201], bodies: () => [{ code: 'changed', amount: 1 }] },
  'PUT /v2/vouchers/{id}': { bodies: () => [{ amount: 200 }] },
  'PUT /v2/schools': { stranger: [200], bodies: () => [wholeSchool] },
  'PUT /v2/booking-settings': { stranger: [200], bodies: () => [{ mails: { reminder: true } }] },
  'PUT /v2/catalog-settings': { stranger: [200], bodies: () => [{ index: false }] },
  'POST /schools': { stranger: [200], subSchool: [400], bodies: () => [wholeSchool] },
  'POST /v2/check-user-credentials': {
    stranger: [200],
    bodies: () => [{ username: marker, password: marker, create_login_url: true }],
  },
  'POST /v2/webhooks': { stranger: [201], bodies: () => [{ url: 'https://hooks.example/', is_active: false }] },
  'PUT /v2/webhooks/{id}': { bodies: () => [{ description: 'Changed' }] },
  // Before the person is attached.
  'DELETE /v2/admin-users/{id}': {},
  'POST /v2/admin-users': {
    stranger: [400, 200],
    bodies: ({ role }) => [
      { email, role_ids: [role] },
      { email, role_ids: [1], ...named, position: 'Changed', booking_email: 'c@x.example' },
    ],
  },
};

/** Routes with a line of their own, then the others that are documented, those that delete last. */
function listRoutes(isListed: (method: string) => boolean, own: object) {
  const named = Object.keys(own).filter((route) => isServed({ route }));
  const documented = documentedEndpoints.filter(({ method }) => isListed(method));
  const [deletes, others] = [true, false].map((isDelete) =>
    documented.filter(({ method }) => (method === 'DELETE') === isDelete).map(({ name }) => name),
  );
  return [...new Set([...named, ...others!, ...deletes!])];
}

export const readTable = listRoutes((method) => method === 'GET', reads).map((route): Read => {
  const stranger = route.includes('{') ? 404 : 200;
  return { route, profiles: readers, owner: 'own data', stranger, ...reads[route] };
});
export const writeTable = listRoutes((method) => method !== 'GET', writes).map((route): Write => {
  const { bodies = () => [findWriteEndpoint(route)?.full ?? {}], ...own } = writes[route] ?? {};
  const stranger = Array<number>(countBodies(bodies)).fill(/^POST [^{]+$/.test(route) ? 201 : 404);
  return { route, profiles: full, bodies, stranger, ...own };
});

/** The profiles that may call each endpoint. */
export const allowedProfiles: Record<string, readonly KeyProfile[]> = Object.fromEntries(
  [...readTable, ...writeTable].map(({ route, profiles }) => [route, profiles]),
);

/** A person is shared by all providers and attached by an e-mail that the caller already knows. */
export const shownAfterWrite: Record<string, string[]> = {
  // A person who is attached has the names as first given.
  'POST /v2/admin-users': ['email', 'firstname', 'lastname'],
  // Sent by the caller, whose school it is unique in.
  'POST /v2/course-users': ['username'],
};

/** The owner's row that a parameter refers to and, for a write, the whole body; or the reason why it refers to none. */
export type IdParameter = [keyof Ids, ((id: number, ids: Ids) => object)?] | string;
let created = 0;
const newTitle = () => `Title ${(created += 1)}`;

/** Fields of bodies with an id, by their names in every route: the owner's row, and the value unless it is the id. */
export const referenceFields: Record<string, [keyof Ids, ((id: number) => unknown)?]> = {
  tags: ['tag', (id) => [id]],
  labels: ['label', (id) => [{ id }]],
  courses: ['course', (id) => [id]],
  customers: ['customer', (id) => [id]],
  instructors: ['instructor', (id) => [id]],
  role_ids: ['role', (id) => [id]],
  gatherings: ['location', (id) => [{ ...meeting, idLocation: id }]],
  customer_id: ['customer'],
  location_id: ['location'],
  parent_id: ['date'],
  coursedate_id: ['date'],
  idInstructor: ['instructor'],
  idUser: ['adminUser'],
  seller_id: ['adminUser'],
};
/** The other fields of such a body. */
const besideReference: Record<string, () => object> = {
  'POST /v2/courses': () => ({ title: newTitle() }),
  'POST /v2/courses/{course_id}/coursedates': () => days,
  'POST /v2/locations': () => ({ title: 'L' }),
  'POST /v2/instructors': () => named,
  'POST /v2/campaigns': () => discount,
  'POST /v2/customers': () => ({ title: 'C' }),
  'POST /v2/course-users': () => participant,
  'POST /v2/admin-users': () => ({ email: 'x@x.example', ...named }),
};
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
  'query level_id': 'the same for all',
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
  'POST /v2/courses body customer_id': [
    'customer',
    (id) => ({ title: newTitle(), type: 'corporate', customer_id: id }),
  ],
  'PUT /v2/courses/{id} body customer_id': ['customer', (id) => ({ type: 'corporate', customer_id: id })],
  'PUT /v2/course-tags/{id} path id': ['tag', () => ({ title: newTitle() })],
  'DELETE /v2/webhooks/{id} path id': ['webhookToDelete'],
  'DELETE /v2/course-tags/{id} path id': ['tagToDelete'],
  'POST /v2/orders/{id}/credit path id': ['order', () => ({ lines: [{ line_id: 999_999_999 }] })],
  'POST /v2/orders/{id}/credit body lines': ['line', (id) => ({ lines: [{ line_id: id }] })],
  'POST /v2/booking body coursedate_id': [
    'date',
    (id) => ({ coursedate_id: id, payment_method, participants: [participant] }),
  ],
  'POST /v2/booking body participants': ['product', (id) => ({ participants: [{ ...participant, products: [id] }] })],
  'PUT /v2/booking/{id}/deregister body participants': ['participant', (id) => ({ participants: [id] })],
  'POST /v2/batch/booking body bookings': [
    'date',
    (id) => ({ bookings: [{ coursedate_id: id, payment_method, participants: [participant] }] }),
  ],
  'PUT /v2/coursedates/{id}/attendance path id': ['date', () => ({ marks: [mark(1, 1)] })],
  'PUT /v2/coursedates/{id}/attendance body marks': 'the results repeat the ids',
  'POST /v2/participants/{id}/move path id': ['participant', () => ({ coursedate_id: 1 })],
  'POST /v2/course-users/{id}/erase path id': ['userToErase', () => ({ dry_run: true })],
  'POST /v2/course-users/{id}/merge path id': ['userToMerge', () => ({ into: 1, dry_run: true })],
  'POST /v2/customers/{id}/merge path id': ['customerToMerge', () => ({ into: 1, dry_run: true })],
  'PUT /v2/courses/{course_id}/coursedates/{id} body parent_id': 'none for a date that is a parent itself',
};

/** Every parameter with an id: another provider gets the same response for the owner's id and an unknown id. */
export function findIdParameter(route: string, parameter: string): IdParameter | undefined {
  const [method = '', path = ''] = route.split(' ');
  const [where, name = ''] = parameter.split(' ');
  const found = idTable[`${route} ${parameter}`] ?? idsByName[parameter];
  if (found !== undefined) return found;
  const [kind, toValue = Number] = referenceFields[name] ?? [];
  if (where === 'body' && kind) return [kind, (id) => ({ ...besideReference[route]?.(), [name]: toValue(id) })];
  const inPath = where === 'path' ? idsInPath(path)[name] : undefined;
  const write = method === 'DELETE' ? undefined : writeTable.find((one) => one.route === route);
  return inPath && [inPath, write && ((_id, ids) => write.bodies(ids)[0]!)];
}

/** Query parameters that a list requires. */
export const requiredQuery = ({ course }: Ids): Record<string, string> => ({
  'GET /v2/search-users': `lastname=${marker}`,
  'GET /v2/batch/coursedates': `course_ids=${course}`,
});
