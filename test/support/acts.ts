import { bookingBody, bookOrFail, createBookableDate, persons } from './booking.ts';
import { addDate, addGathering } from './dates.ts';
import type { Fields } from './dialects.ts';
import { keyedWrites } from './keyed-writes.ts';
import { createOrder, createUser } from './orders.ts';
import type { Provider } from './test-app.ts';

/** An act that cannot be undone, and a request that is valid. */
export type Act = { route: string; prepare(me: Provider): Promise<{ path: string; body: Fields }> };

const keyed = (route: string): Act => ({
  route,
  prepare: keyedWrites.find((one) => one.route === route)!.prepare as Act['prepare'],
});

const booked = async (me: Provider) => {
  const { courseId, dateId } = await createBookableDate(me);
  const participants = persons(2);
  return { courseId, dateId, ...(await bookOrFail(me, dateId, { participants, booker_email: 'ola@people.example' })) };
};

const createWebhook = async (me: Provider) => {
  const created = await me.post('/v2/webhooks', { url: 'https://hooks.example/', is_active: false });
  return created.json<{ id: number }>().id;
};

export const acts: Act[] = [
  {
    route: 'POST /v2/batch/booking',
    prepare: async (me) => {
      const { dateId } = await createBookableDate(me);
      return { path: '/v2/batch/booking', body: { bookings: [bookingBody(dateId), bookingBody(dateId)] } };
    },
  },
  {
    route: 'PUT /v2/booking/{id}/deregister',
    prepare: async (me) => ({ path: `/v2/booking/${(await booked(me)).booking_id}/deregister`, body: {} }),
  },
  {
    route: 'POST /v2/booking/{id}/link',
    prepare: async (me) => ({ path: `/v2/booking/${(await booked(me)).booking_id}/link`, body: {} }),
  },
  {
    route: 'PUT /v2/coursedates/{id}/attendance',
    prepare: async (me) => {
      const [courseId, day] = [await me.course(), '2026-03-02'];
      const dateId = await addDate(me, courseId, { startAt: day });
      const times = { gatheringAt: `${day} 09:00`, gatheringEndAt: `${day} 15:00` };
      const gathering_id = await addGathering(me, dateId, times);
      const { participantIds } = await createOrder(me, { courseId, dateId });
      const marks = participantIds.map((id) => ({ participant_id: id, gathering_id, attended: true, nonce: 'one' }));
      return { path: `/v2/coursedates/${dateId}/attendance`, body: { marks } };
    },
  },
  {
    route: 'POST /v2/courses/{course_id}/coursedates/{id}/cancel',
    prepare: async (me) => {
      const { courseId, dateId } = await booked(me);
      return { path: `/v2/courses/${courseId}/coursedates/${dateId}/cancel`, body: { credit: true } };
    },
  },
  {
    route: 'POST /v2/course-users/{id}/erase',
    prepare: async (me) => ({
      path: `/v2/course-users/${await createUser(me, { firstname: 'Kari', lastname: 'Nordmann' })}/erase`,
      body: {},
    }),
  },
  keyed('POST /v2/course-users/{id}/merge'),
  keyed('POST /v2/customers/{id}/merge'),
  keyed('POST /v2/mails/{id}/resend'),
  {
    route: 'POST /v2/orders/{id}/credit',
    prepare: async (me) => {
      const { orderId, lineIds } = await createOrder(me, { courseId: await me.course() });
      return { path: `/v2/orders/${orderId}/credit`, body: { lines: [{ line_id: lineIds[0]! }] } };
    },
  },
  {
    route: 'POST /v2/orders/{id}/export',
    prepare: async (me) => {
      const { orderId } = await createOrder(me, { courseId: await me.course() });
      return { path: `/v2/orders/${orderId}/export`, body: {} };
    },
  },
  {
    route: 'POST /v2/orders/{id}/payments',
    prepare: async (me) => {
      const { orderId } = await createOrder(me, { courseId: await me.course() });
      return { path: `/v2/orders/${orderId}/payments`, body: {} };
    },
  },
  keyed('POST /v2/participants/{id}/move'),
  {
    route: 'POST /v2/webhooks/{id}/rotate',
    prepare: async (me) => ({ path: `/v2/webhooks/${await createWebhook(me)}/rotate`, body: {} }),
  },
  {
    route: 'POST /v2/webhooks/{id}/test',
    prepare: async (me) => ({ path: `/v2/webhooks/${await createWebhook(me)}/test`, body: {} }),
  },
];

/** Each other POST, and why it ignores unknown names. */
export const lenientPosts: Record<string, string> = {
  'POST /courses': 'a create',
  'POST /v2/booking': 'a create',
  'POST /v2/check-user-credentials': 'changes no item',
};
