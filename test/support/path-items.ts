import { bookOrFail, createBookableDate } from './booking.ts';
import { addDate } from './dates.ts';
import { createSentMail } from './mail.ts';
import { idOf, itemsPath } from './openapi.ts';
import { createOrder } from './orders.ts';
import { findWriteEndpoint } from './request-bodies.ts';
import type { Provider } from './test-app.ts';

const order = async (me: Provider) => (await createOrder(me, { courseId: await me.course() })).orderId;
const book = async (me: Provider) =>
  bookOrFail(me, (await createBookableDate(me)).dateId, { booker_email: 'ola@people.example' });

/** Items that a POST to the path of their list does not create, by this path. */
const makers: Record<string, (me: Provider) => Promise<number>> = {
  '/v2/booking': async (me) => Number((await book(me)).booking_id),
  '/v2/participants': async (me) => (await book(me)).participants[0]!.id,
  '/v2/courses': (me) => me.course(),
  '/v2/orders': order,
  '/v2/payments': async (me) => post(me, `/v2/orders/${await order(me)}/payments`, {}),
  '/v2/coursedates': async (me) => addDate(me, await me.course()),
  '/v2/mails': createSentMail,
  '/v2/admin-users': async (me) => {
    // The last administrator cannot be detached.
    await create(me, '/v2/admin-users');
    return create(me, '/v2/admin-users');
  },
};

/** Posts a body that must be accepted; returns the id of the item. */
export async function post(me: Provider, url: string, body: object) {
  const response = await me.post(url, body);
  if (response.status >= 300) throw new Error(`POST ${url}: ${response.text}`);
  return idOf(response.json());
}

/** Posts the fewest fields that the schema requires. */
async function create(me: Provider, list: string) {
  const endpoint = findWriteEndpoint(`POST ${list}`);
  if (!endpoint)
    throw new Error(`name how an item of ${list} is created in test/support/path-items.ts, or renew the document`);
  return post(me, list, endpoint.minimal);
}

/** Creates the items that the parameters of a path name; returns their ids. */
export async function createIds(me: Provider, path: string): Promise<Record<string, number>> {
  if (path.includes('{payment_id}')) {
    const id = await order(me);
    return { id, payment_id: await post(me, `/v2/orders/${id}/payments`, {}) };
  }
  if (path.includes('{course_id}')) {
    const course = await me.course();
    return { course_id: course, ...(path.includes('{id}') && { id: await addDate(me, course) }) };
  }
  const list = itemsPath(path);
  return path.includes('{id}') ? { id: await (makers[list]?.(me) ?? create(me, list)) } : {};
}
export const fillIds = (path: string, ids: Record<string, number>) =>
  path.replaceAll(/\{(\w+)\}/g, (parameter, name: string) => String(ids[name] ?? parameter));
