import { bookOrFail, createBookableDate, deregister, persons } from '../booking.ts';
import { addGathering, addParticipants } from '../dates.ts';
import { createAttendance, createCustomer } from '../orders.ts';
import type { Provider } from '../test-app.ts';
import { created, manyProperties, type Rule, type Send } from './rule.ts';

const days = { start_at: '2030-06-10', end_at: '2030-06-12' };

/** Creates or updates a course with these fields. */
async function sendCourse(me: Provider, send: Send, operation: string, fields: object) {
  if (operation.startsWith('POST')) return send('POST', '/v2/courses', { title: 'Other', ...fields });
  return send('PUT', `/v2/courses/${await me.course({ title: 'Other' })}`, fields);
}

type Dates = { courseId: number; id: number; create: (fields?: object) => Promise<number> };
/** Creates a date with these fields, or updates one. */
async function sendDate(me: Provider, send: Send, operation: string, toFields: (dates: Dates) => object) {
  const courseId = await me.course();
  const path = `/v2/courses/${courseId}/coursedates`;
  const create = async (fields = {}) =>
    (await created(me.post(path, { ...days, ...fields })))['coursedate_id'] as number;
  const id = await create();
  const fields = await Promise.resolve(toFields({ courseId, id, create }));
  return operation.startsWith('POST')
    ? send('POST', path, { ...days, ...fields })
    : send('PUT', `${path}/${id}`, fields);
}

const courses = ['POST /v2/courses', 'PUT /v2/courses/:id'];
const dates = ['POST /v2/courses/:id/coursedates', 'PUT /v2/courses/:id/coursedates/:id'];
const updateDate = dates.slice(1);
const cancel = ['POST /v2/courses/:id/coursedates/:id/cancel'];
const move = ['POST /v2/participants/:id/move'];
const tags = ['PUT /v2/course-tags/:id'];
const attendance = ['PUT /v2/coursedates/:id/attendance'];

const course = (code: Rule['code'], field: string, fields: object, prepare?: (me: Provider) => unknown): Rule => ({
  ...{ operations: courses, code, fields: [field] },
  async breakIt(me, send, operation) {
    await prepare?.(me);
    return sendCourse(me, send, operation, fields);
  },
});
const date = (
  code: Rule['code'],
  field: string,
  toFields: Parameters<typeof sendDate>[3],
  operations = dates,
): Rule => ({
  ...{ operations, code, fields: [field] },
  breakIt: (me, send, operation) => sendDate(me, send, operation, toFields),
});
const isUnknown = 999_999_999;
const gathering = { gathering_at: '2030-06-10 11:00', gathering_end_at: '2030-06-10 09:00' };

const cancelRule = (
  code: Rule['code'],
  fields: string[],
  toBody: (me: Provider, dateId: number) => Promise<object> | object,
  first?: object,
): Rule => ({
  ...{ operations: cancel, code, fields },
  async breakIt(me, send) {
    const { courseId, dateId } = await createBookableDate(me);
    await bookOrFail(me, dateId);
    const path = `/v2/courses/${courseId}/coursedates/${dateId}/cancel`;
    if (first) await created(me.post(path, first));
    return send('POST', path, await toBody(me, dateId));
  },
});

async function createParticipant(me: Provider, date: Parameters<typeof createBookableDate>[1] = {}) {
  const { courseId, dateId } = await createBookableDate(me, date);
  const { participants, booking_id } = await bookOrFail(me, dateId);
  return { courseId, dateId, id: participants[0]!.id, bookingId: booking_id };
}
type Placed = Awaited<ReturnType<typeof createParticipant>>;
const moveRule = (
  code: Rule['code'],
  fields: string[],
  toBody: (me: Provider, placed: Placed) => Promise<object> | object,
): Rule => ({
  ...{ operations: move, code, fields },
  async breakIt(me, send) {
    const placed = await createParticipant(me);
    return send('POST', `/v2/participants/${placed.id}/move`, await toBody(me, placed));
  },
});
const otherDate = async (me: Provider, date: Parameters<typeof createBookableDate>[1] = {}) =>
  (await createBookableDate(me, date)).dateId;

async function createAttended(me: Provider) {
  const placed = await createParticipant(me);
  await createAttendance(me, placed.id, await addGathering(me, placed.dateId), { attended: true });
  return placed;
}

export const catalogRules: Rule[] = [
  course('field_invalid', 'title', { title: 'x'.repeat(256) }),
  course('equal_title', 'title', { title: 'Taken' }, (me) => me.course({ title: 'Taken' })),
  course('field_invalid', 'customer_id', { type: 'corporate', customer_id: isUnknown }),
  course('field_invalid', '-customer_id', { type: 'corporate' }),
  {
    ...{ operations: courses, code: 'customer_not_corporate', fields: ['customer_id'] },
    breakIt: async (me, send, operation) => sendCourse(me, send, operation, { customer_id: await createCustomer(me) }),
  },
  course('field_invalid', 'custom_properties', { custom_properties: manyProperties(201) }),
  {
    ...{ operations: courses.slice(1), code: 'too_many_items', fields: ['custom_properties'] },
    async breakIt(me, send) {
      const id = await me.course({ title: 'Other', custom_properties: manyProperties(200) });
      return send('PUT', `/v2/courses/${id}`, { custom_properties: { other: 'x' } });
    },
  },
  {
    ...{ operations: ['DELETE /v2/courses/:id'], code: 'course_has_participants' },
    breakIt: async (me, send) => send('DELETE', `/v2/courses/${(await createParticipant(me)).courseId}`),
  },
  {
    ...{ operations: ['DELETE /v2/courses/:id/coursedates/:id'], code: 'date_has_participants' },
    async breakIt(me, send) {
      const { courseId, dateId } = await createParticipant(me);
      return send('DELETE', `/v2/courses/${courseId}/coursedates/${dateId}`);
    },
  },
  date('field_invalid', 'end_at', () => ({ end_at: '2030-02-30' })),
  date('end_before_start', 'end_at', () => ({ end_at: '2030-06-09', deadline_at: '2030-06-01' })),
  date('field_invalid', 'end_time_at', () => ({ end_time_at: '25:00' })),
  date('end_before_start', 'end_time_at', () => ({
    end_at: '2030-06-10',
    start_time_at: '15:00',
    end_time_at: '09:00',
  })),
  date('field_invalid', 'deadline_at', () => ({ deadline_at: 'soon' })),
  date('deadline_after_end', 'deadline_at', () => ({ deadline_at: '2030-06-13' })),
  date('field_invalid', 'gatherings', () => ({
    gatherings: [{ ...gathering, gathering_end_at: '2030-06-10 12:00', idLocation: isUnknown }],
  })),
  date('end_before_start', 'gatherings', () => ({ gatherings: [gathering] })),
  date('field_invalid', 'parent_id', () => ({ parent_id: isUnknown })),
  date('nested_children', 'parent_id', async ({ id, create }) => ({ parent_id: await create({ parent_id: id }) })),
  date('same_item', 'parent_id', ({ id }) => ({ parent_id: id }), updateDate),
  date('field_invalid', 'custom_properties', () => ({ custom_properties: manyProperties(201) })),
  {
    ...{ operations: updateDate, code: 'too_many_items', fields: ['custom_properties'] },
    async breakIt(me, send) {
      const { courseId, dateId } = await createBookableDate(me);
      const path = `/v2/courses/${courseId}/coursedates/${dateId}`;
      await created(me.put(path, { custom_properties: manyProperties(200) }));
      return send('PUT', path, { custom_properties: { other: 'x' } });
    },
  },
  date('field_invalid', 'trigger_value', () => ({ trigger_value: 'x'.repeat(5_001) })),
  date('equal_trigger_value', 'trigger_value', async ({ create }) => {
    const parent_id = await create();
    await create({ parent_id, trigger_value: 'June' });
    return { parent_id, trigger_value: 'june' };
  }),
  {
    ...{ operations: updateDate, code: 'attendance_registered', fields: ['gatherings'] },
    async breakIt(me, send) {
      const { courseId, dateId } = await createAttended(me);
      return send('PUT', `/v2/courses/${courseId}/coursedates/${dateId}`, { gatherings: [] });
    },
  },
  {
    ...{ operations: updateDate, code: 'field_invalid', fields: ['-gatherings'] },
    async breakIt(me, send) {
      const { courseId, dateId } = await createBookableDate(me, { startAt: '2030-06-10', endAt: '2030-06-14' });
      await addGathering(me, dateId, { gatheringAt: '2030-06-14 09:00', gatheringEndAt: '2030-06-14 10:00' });
      const change = { start_at: '2030-06-01', end_at: '2030-06-03' };
      return send('PUT', `/v2/courses/${courseId}/coursedates/${dateId}`, change);
    },
  },
  cancelRule('field_invalid', ['move_to'], () => ({ move_to: 'x' })),
  cancelRule('same_item', ['move_to'], (_me, dateId) => ({ move_to: dateId })),
  cancelRule('move_with_credit', ['move_to'], async (me) => ({ move_to: await otherDate(me), credit: true })),
  cancelRule('course_date_identifier_invalid', ['move_to'], () => ({ move_to: isUnknown })),
  cancelRule('course_date_cancelled', [], async (me) => ({ move_to: await otherDate(me, { statusId: 3 }) })),
  cancelRule('deadline_passed', [], async (me) => ({ move_to: await otherDate(me, { deadlineAt: '2020-01-01' }) })),
  {
    ...{ operations: cancel, code: 'attendance_registered' },
    async breakIt(me, send) {
      const { courseId, dateId } = await createAttended(me);
      return send('POST', `/v2/courses/${courseId}/coursedates/${dateId}/cancel`, { move_to: await otherDate(me) });
    },
  },
  cancelRule('no_seats_available', [], async (me) => ({ move_to: await fullDate(me) })),
  cancelRule('already_canceled', ['message'], () => ({ message: 'Flooded' }), { message: 'Ill' }),
  cancelRule('already_canceled', ['credit'], () => ({}), { credit: true }),
  cancelRule('already_canceled', ['send_mail'], () => ({ send_mail: false }), {}),
  cancelRule('already_canceled', ['move_to'], async (me) => ({ move_to: await otherDate(me) }), {}),
  {
    ...{ operations: cancel, code: 'too_many_items' },
    async breakIt(me, send) {
      const { courseId, dateId } = await createBookableDate(me);
      await addParticipants(me, courseId, dateId, Array<number>(1_001).fill(1));
      return send('POST', `/v2/courses/${courseId}/coursedates/${dateId}/cancel`, { move_to: await otherDate(me) });
    },
  },
  moveRule('field_invalid', ['coursedate_id'], () => ({ coursedate_id: 'x' })),
  moveRule('course_date_identifier_invalid', ['coursedate_id'], () => ({ coursedate_id: isUnknown })),
  moveRule('no_seats_available', [], async (me) => ({ coursedate_id: await fullDate(me) })),
  moveRule('course_date_cancelled', [], async (me) => ({ coursedate_id: await otherDate(me, { statusId: 3 }) })),
  moveRule('deadline_passed', [], async (me) => ({ coursedate_id: await otherDate(me, { deadlineAt: '2020-01-01' }) })),
  moveRule('participant_left', [], async (me, { bookingId }) => {
    await created(deregister(me, bookingId));
    return { coursedate_id: await otherDate(me) };
  }),
  {
    ...{ operations: move, code: 'attendance_registered' },
    async breakIt(me, send) {
      const { id } = await createAttended(me);
      return send('POST', `/v2/participants/${id}/move`, { coursedate_id: await otherDate(me) });
    },
  },
  {
    ...{ operations: move, code: 'price_unknown', fields: ['price'] },
    async breakIt(me, send) {
      const { courseId, dateId } = await createBookableDate(me);
      await addParticipants(me, courseId, dateId, [1]);
      const [found] = (await me.get('/v2/participants')).json<{ id: number }[]>();
      const body = { coursedate_id: await otherDate(me), price: 'difference' };
      return send('POST', `/v2/participants/${found!.id}/move`, body);
    },
  },
  moveRule('field_invalid', ['price'], async (me) => ({ coursedate_id: await otherDate(me), price: 'half' })),
  {
    ...{ operations: attendance, code: 'minutes_without_attendance', fields: ['marks[0].minutes'] },
    async breakIt(me, send) {
      const { dateId } = await createBookableDate(me);
      const mark = { participant_id: 1, gathering_id: 1, minutes: 30, nonce: 'a' };
      return send('PUT', `/v2/coursedates/${dateId}/attendance`, { marks: [mark] });
    },
  },
  {
    ...{ operations: attendance, code: 'field_invalid', fields: ['marks[0].minutes'] },
    async breakIt(me, send) {
      const { dateId } = await createBookableDate(me);
      const mark = { participant_id: 1, gathering_id: 1, attended: true, minutes: -1, nonce: 'a' };
      return send('PUT', `/v2/coursedates/${dateId}/attendance`, { marks: [mark] });
    },
  },
  {
    ...{ operations: tags, code: 'equal_title', fields: ['title'] },
    async breakIt(me, send) {
      await me.post('/v2/course-tags', { title: 'Taken' });
      const { id } = await created(me.post('/v2/course-tags', { title: 'Other' }));
      return send('PUT', `/v2/course-tags/${id}`, { title: 'taken' });
    },
  },
  {
    ...{ operations: tags, code: 'field_invalid', fields: ['title'] },
    async breakIt(me, send) {
      const { id } = await created(me.post('/v2/course-tags', { title: 'Other' }));
      return send('PUT', `/v2/course-tags/${id}`, { title: 'x'.repeat(256) });
    },
  },
  {
    ...{ operations: ['DELETE /v2/course-tags/:id'], code: 'tag_in_use' },
    async breakIt(me, send) {
      const { id } = await created(me.post('/v2/course-tags', { title: 'Used' }));
      const campaign = { title: 'A', discount_type: 'Percent', discount_value: 5, tags: [id] };
      await created(me.post('/v2/campaigns', campaign));
      return send('DELETE', `/v2/course-tags/${id}`);
    },
  },
  {
    ...{ operations: ['GET /v2/courses'], code: 'since_id_with_order', fields: ['since_id'] },
    breakIt: (_me, send) => send('GET', '/v2/courses?since_id=1&order_by=updated_at'),
  },
  {
    ...{ operations: ['GET /v2/courses'], code: 'field_invalid', fields: ['since_id'] },
    breakIt: (_me, send) => send('GET', '/v2/courses?since_id=x'),
  },
];

async function fullDate(me: Provider) {
  const id = await otherDate(me, { capacityMax: 1 });
  await bookOrFail(me, id, { participants: persons(1) });
  return id;
}
