import { bookingBody, bookOrFail, createBookableDate, person } from './booking.ts';
import { documentedEndpoints, hasParameter } from './isolation.ts';
import { createSentMail } from './mail.ts';
import { createCustomer, createOrder, createUser } from './orders.ts';
import { isServed } from './plugin-list.ts';
import { findWriteEndpoint, minimalPerson } from './request-bodies.ts';
import { isFreeText } from './sample-values.ts';
import type { Provider } from './test-app.ts';

type Prepared = { path: string; body: object };
export type KeyedWrite = {
  route: string;
  /** Creates what the request needs. */
  prepare(me: Provider): Promise<Prepared>;
  /** Fields of another request. */
  other: object;
  /** The path of another item, for an operation without fields. */
  otherPath?: string;
  /** The table to which the request adds a row, with the start of a condition. */
  counted: string;
  /** An equal request without a key finds the item, or is refused. */
  isUnique?: true;
  /** The path below which the new item is read; that of the request unless set. */
  readBelow?: string;
};

const days = { start_at: '2031-06-10', end_at: '2031-06-12' };
let created = 0;
const unique = (text: string) => `${text} ${process.pid} ${(created += 1)}`;
const at = (path: string, body: () => object) => async () => ({ path, body: body() });
const merged = (resource: string) => `events where change = 'merged' and resource = '${resource}' and`;

/** Writes that the document and the name of the path do not describe. */
const described: KeyedWrite[] = [
  {
    route: 'POST /v2/courses',
    prepare: at('/v2/courses', () => ({ title: unique('Course'), active: false })),
    ...{ other: { title: 'Other' }, counted: 'courses where' },
  },
  {
    route: 'POST /v2/courses/{course_id}/coursedates',
    prepare: async (me) => ({ path: `/v2/courses/${await me.course()}/coursedates`, body: days }),
    ...{ other: { title: 'Other' }, counted: 'course_dates where' },
  },
  {
    route: 'POST /v2/course-tags',
    prepare: at('/v2/course-tags', () => ({ title: unique('Tag') })),
    ...{ other: { title: 'Other' }, counted: 'tags where', isUnique: true },
  },
  {
    route: 'POST /v2/booking',
    prepare: async (me) => {
      const { dateId } = await createBookableDate(me);
      return { path: '/v2/booking', body: bookingBody(dateId) };
    },
    ...{ other: { booker_name: 'Other' }, counted: 'bookings where' },
  },
  {
    route: 'POST /v2/vouchers',
    prepare: at('/v2/vouchers', () => ({ code: unique('Code'), amount: 100 })),
    ...{ other: { amount: 200 }, counted: 'vouchers where', isUnique: true },
  },
  {
    route: 'POST /v2/orders/{id}/credit',
    prepare: async (me) => {
      const { orderId } = await createOrder(me, { courseId: await me.course() });
      return { path: `/v2/orders/${orderId}/credit`, body: { reason: 'Ill' } };
    },
    ...{ other: { reason: 'Other' }, counted: 'orders where', isUnique: true, readBelow: '/v2/orders' },
  },
  {
    route: 'POST /v2/orders/{id}/payments',
    prepare: async (me) => {
      const { orderId } = await createOrder(me, { courseId: await me.course() });
      return { path: `/v2/orders/${orderId}/payments`, body: { amount: 10 } };
    },
    ...{ other: { amount: 20 }, counted: 'payments where', readBelow: '/v2/payments' },
  },
  {
    route: 'POST /v2/mails/{id}/resend',
    prepare: async (me) => ({ path: `/v2/mails/${await createSentMail(me)}/resend`, body: {} }),
    ...{
      other: {},
      otherPath: '/v2/mails/999999999/resend',
      counted: 'outbox where',
      isUnique: true,
      readBelow: '/v2/mails',
    },
  },
  {
    route: 'POST /v2/course-users',
    prepare: at('/v2/course-users', () => person({ custom_properties: { b: '1', a: '2' } })),
    ...{ other: { position: 'Other' }, counted: 'course_users where', isUnique: true },
  },
  {
    route: 'POST /v2/course-users/{id}/merge',
    prepare: async (me) => {
      const [id, into] = [await createUser(me), await createUser(me)];
      return { path: `/v2/course-users/${id}/merge`, body: { into } };
    },
    ...{ other: { into: 999_999_999 }, counted: merged('courseuser'), isUnique: true },
  },
  {
    route: 'POST /v2/customers/{id}/merge',
    prepare: async (me) => {
      const [id, into] = [await createCustomer(me), await createCustomer(me)];
      return { path: `/v2/customers/${id}/merge`, body: { into } };
    },
    ...{ other: { into: 999_999_999 }, counted: merged('customer'), isUnique: true },
  },
  {
    route: 'POST /v2/participants/{id}/move',
    prepare: async (me) => {
      const [from, to] = [await createBookableDate(me), await createBookableDate(me)];
      const { participants } = await bookOrFail(me, from.dateId);
      return { path: `/v2/participants/${participants[0]!.id}/move`, body: { coursedate_id: to.dateId } };
    },
    ...{ other: { coursedate_id: 999_999_999 }, counted: "events where change = 'moved' and", isUnique: true },
  },
  {
    route: 'POST /v2/admin-users',
    prepare: at('/v2/admin-users', minimalPerson),
    ...{ other: { phone: '1' }, counted: 'admin_memberships where', isUnique: true },
  },
];

/** A create with its required fields, of the table with the name of its list. */
const others = documentedEndpoints.flatMap((endpoint): KeyedWrite[] => {
  const { name: route, method, path } = endpoint;
  const isNamed = described.some((one) => one.route === route);
  if (method !== 'POST' || isNamed || !hasParameter(endpoint, 'Idempotency-Key')) return [];
  const { minimal = {}, full = {} } = findWriteEndpoint(route) ?? {};
  const text = Object.keys(full).find((name) => isFreeText(full[name]));
  if (!text) throw new Error(`name ${route} in test/support/keyed-writes.ts`);
  const table = path.replace('/v2/', '').replaceAll('-', '_');
  return [{ route, prepare: at(path, () => minimal), other: { [text]: 'Other' }, counted: `${table} where` }];
});

/** Each POST of the main interface that takes an `Idempotency-Key`. */
export const keyedWrites = [...described.filter(isServed), ...others];

type Pool = { query(text: string, values: unknown[]): Promise<{ rows: { count: number }[] }> };

export async function countWritten(pool: Pool, { counted }: KeyedWrite, providerId: number) {
  const { rows } = await pool.query(`select count(*)::int as count from ${counted} provider_id = $1`, [providerId]);
  return rows[0]!.count;
}
