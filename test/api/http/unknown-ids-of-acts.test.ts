import { expect, test } from 'vitest';
import { bookingBody, bookOrFail, createBookableDate } from '../../support/booking.ts';
import { addGathering } from '../../support/dates.ts';
import { createCustomer, createUser } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Item = Record<string, any>;

/** A school with one of each item that an act can name. */
async function stage() {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const empty = await createBookableDate(me);
  const { order_id, booking_id, participants } = await bookOrFail(me, dateId);
  const { lines } = (await me.get(`/v2/orders/${order_id}`)).json<Item>();
  const gathering = await addGathering(me, dateId);
  const [user, customer] = [await createUser(me), await createCustomer(me)];
  const ids = { dateId, participant: participants[0]!.id, line: lines[0].id as number, user, customer, gathering };
  return { me, courseId, empty, order: order_id, booking: booking_id, ...ids };
}
type Stage = Awaited<ReturnType<typeof stage>>;
type Act = [
  name: string,
  id: keyof Stage,
  method: 'POST' | 'PUT',
  path: (own: Stage) => string,
  body: (id: number) => object,
];

const acts: Act[] = [
  ['a move', 'dateId', 'POST', (own) => `/v2/participants/${own.participant}/move`, (id) => ({ coursedate_id: id })],
  [
    'a cancellation of an empty date',
    'dateId',
    'POST',
    ({ empty }: Stage) => `/v2/courses/${empty.courseId}/coursedates/${empty.dateId}/cancel`,
    (id) => ({ move_to: id }),
  ],
  [
    'a cancellation',
    'dateId',
    'POST',
    (own) => `/v2/courses/${own.courseId}/coursedates/${own.dateId}/cancel`,
    (id) => ({ move_to: id }),
  ],
  ['a merge of persons', 'user', 'POST', (own) => `/v2/course-users/${own.user}/merge`, (id) => ({ into: id })],
  ['a merge of customers', 'customer', 'POST', (own) => `/v2/customers/${own.customer}/merge`, (id) => ({ into: id })],
  ['a credit', 'line', 'POST', (own) => `/v2/orders/${own.order}/credit`, (id) => ({ lines: [{ line_id: id }] })],
  [
    'a deregistration',
    'participant',
    'PUT',
    (own) => `/v2/booking/${own.booking}/deregister`,
    (id) => ({ participants: [id] }),
  ],
  ['another person', 'user', 'PUT', (own) => `/v2/participants/${own.participant}`, (id) => ({ user: { id } })],
  ['a booking', 'dateId', 'POST', () => '/v2/booking', (id) => bookingBody(id)],
];

test.each(acts)(
  '%s that names an item that is unknown, or of another school, is 400',
  async (_, name, method, path, toBody) => {
    const [own, other] = [await stage(), await stage()];
    for (const id of [other[name] as number, 999_999_999, Number.MAX_SAFE_INTEGER]) {
      const refused = await own.me.request(method)(path(own), toBody(id));
      expect([id, refused.status], refused.text).toEqual([id, 400]);
    }
  },
);

test('a mark of attendance that names an unknown item is among the results', async () => {
  const [own, other] = [await stage(), await stage()];
  for (const id of [999_999_999, Number.MAX_SAFE_INTEGER]) {
    const marks = [
      { participant_id: id, gathering_id: own.gathering, attended: true, nonce: `a${id}` },
      { participant_id: own.participant, gathering_id: id, attended: true, nonce: `b${id}` },
      { participant_id: other.participant, gathering_id: other.gathering, attended: true, nonce: `c${id}` },
    ];
    const { status, ...answer } = await own.me.put(`/v2/coursedates/${own.dateId}/attendance`, { marks });
    expect(status, answer.text).toBe(200);
    expect(answer.text).not.toContain('stored');
  }
});
