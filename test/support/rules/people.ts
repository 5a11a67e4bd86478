import { bookOrFail, createBookableDate, deregister } from '../booking.ts';
import { addGathering, changeDate } from '../dates.ts';
import { createAttendance, createCustomer, createUser, write } from '../orders.ts';
import { sharedTestApp, type Provider } from '../test-app.ts';
import { createWebhook } from '../webhooks.ts';
import { created, manyProperties, type Rule, type Send } from './rule.ts';

const isUnknown = 999_999_999;
const kari = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
const ola = { firstname: 'Ola', lastname: 'Nordmann', email: 'ola@people.example' };

const users = ['POST /v2/course-users', 'PUT /v2/course-users/:id'];
const updateUser = users.slice(1);
const mergeUser = ['POST /v2/course-users/:id/merge'];
const merges = [...mergeUser, 'POST /v2/customers/:id/merge'];
const place = ['PUT /v2/participants/:id'];
const admins = ['POST /v2/admin-users'];
const webhooks = ['POST /v2/webhooks', 'PUT /v2/webhooks/:id'];
const search = ['GET /v2/search-users'];

const addUser = async (me: Provider, fields: object) =>
  (await created(me.post('/v2/course-users', fields)))['id'] as number;
async function addErased(me: Provider) {
  const id = await addUser(me, { ...kari, external_id: 'K' });
  await created(me.post(`/v2/course-users/${id}/erase`));
  return id;
}

const user = (code: Rule['code'], fields: string[], body: object, operations = users): Rule => ({
  ...{ operations, code, fields },
  async breakIt(me, send, operation) {
    await addUser(me, { ...kari, username: 'kari' });
    if (operation.startsWith('POST')) return send('POST', '/v2/course-users', { ...ola, ...body });
    return send('PUT', `/v2/course-users/${await addUser(me, ola)}`, body);
  },
});

const merge = (
  code: Rule['code'],
  fields: string[],
  toInto: (me: Provider, id: number) => Promise<number | string> | number | string,
  operations = merges,
): Rule => ({
  ...{ operations, code, fields },
  async breakIt(me, send, operation) {
    const isOfUsers = operation.includes('course-users');
    const id = isOfUsers ? await addUser(me, ola) : await createCustomer(me);
    return send('POST', `/v2/${isOfUsers ? 'course-users' : 'customers'}/${id}/merge`, { into: await toInto(me, id) });
  },
});

type Placed = { courseId: number; dateId: number; id: number; bookingId: string };
const participant = (
  code: Rule['code'],
  fields: string[],
  toBody: (me: Provider, placed: Placed) => Promise<object> | object,
): Rule => ({
  ...{ operations: place, code, fields },
  async breakIt(me, send) {
    const { courseId, dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 2 });
    const { participants, booking_id: bookingId } = await bookOrFail(me, dateId);
    const id = participants[0]!.id;
    return send('PUT', `/v2/participants/${id}`, await toBody(me, { courseId, dateId, id, bookingId }));
  },
});

const addRole = (me: Provider) =>
  write(me, async (tx) => {
    const { rows } = await tx.execute<{ id: number }>(
      `insert into roles (provider_id, title, description, created_at, updated_at)
       values (${me.id}, 'Other', '', now(), now()) returning id`,
    );
    return rows[0]!.id;
  });
const admin = (code: Rule['code'], fields: string[], toBody: (me: Provider) => Promise<object> | object): Rule => ({
  ...{ operations: admins, code, fields },
  async breakIt(me, send) {
    const last = { email: `boss-${me.id}@people.example`, firstname: 'B', lastname: 'B', send_invite: false };
    await created(me.post('/v2/admin-users', { ...last, role_ids: [1] }));
    return send('POST', '/v2/admin-users', { ...last, ...(await toBody(me)) });
  },
});

const webhook = (code: Rule['code'], url: string): Rule => ({
  ...{ operations: webhooks, code, fields: ['url'] },
  async breakIt(me, send, operation) {
    if (operation.startsWith('POST')) return send('POST', '/v2/webhooks', { url });
    const { id } = await createWebhook(me, { url: 'http://127.0.0.1:4000/hooks' });
    return send('PUT', `/v2/webhooks/${id}`, { url });
  },
});

const searchRule = (code: Rule['code'], fields: string[], query: string): Rule => ({
  ...{ operations: search, code, fields },
  breakIt: (_me, send: Send) => send('GET', `/v2/search-users${query}`),
});

export const peopleRules: Rule[] = [
  user('field_invalid', ['username'], { username: 'x'.repeat(1_601) }),
  user('equal_username', ['username'], { username: 'KARI' }),
  user('field_invalid', ['email'], { email: 'x' }),
  user('field_invalid', ['date_of_birth'], { date_of_birth: 'soon' }),
  user('date_in_future', ['date_of_birth'], { date_of_birth: '2999-01-01' }),
  user('field_invalid', ['custom_properties'], { custom_properties: manyProperties(201) }),
  {
    ...{ operations: updateUser, code: 'too_many_items', fields: ['custom_properties'] },
    async breakIt(me, send) {
      const id = await addUser(me, { ...ola, custom_properties: manyProperties(200) });
      return send('PUT', `/v2/course-users/${id}`, { custom_properties: { other: 'x' } });
    },
  },
  user('equal_person', ['firstname', 'email'], { firstname: 'KARI', email: kari.email }, updateUser),
  {
    ...{ operations: updateUser, code: 'person_erased' },
    breakIt: async (me, send) => send('PUT', `/v2/course-users/${await addErased(me)}`, { phone: '1' }),
  },
  merge('field_invalid', ['into'], () => isUnknown),
  merge('same_item', ['into'], (_me, id) => id),
  merge('person_erased', ['into'], addErased, mergeUser),
  {
    ...{ operations: mergeUser, code: 'person_erased' },
    async breakIt(me, send) {
      const into = await addUser(me, ola);
      return send('POST', `/v2/course-users/${await addErased(me)}/merge`, { into });
    },
  },
  participant('field_invalid', ['idStatus'], () => ({ idStatus: 5 })),
  participant('status_not_possible', ['idStatus'], () => ({ idStatus: 2 })),
  participant('date_closed', ['idStatus'], async (me, { dateId, bookingId }) => {
    await created(deregister(me, bookingId));
    await changeDate(me, dateId, { statusId: 3 });
    return { idStatus: 1 };
  }),
  participant('no_seats_available', [], async (me, { dateId, bookingId }) => {
    await created(deregister(me, bookingId));
    await bookOrFail(me, dateId);
    return { idStatus: 1 };
  }),
  participant('field_invalid', ['user'], () => ({ user: { id: isUnknown } })),
  participant('field_invalid', ['user.date_of_birth'], () => ({ user: { ...kari, date_of_birth: 'soon' } })),
  participant('date_in_future', ['user.date_of_birth'], () => ({ user: { ...kari, date_of_birth: '2999-01-01' } })),
  participant('field_invalid', ['custom_properties'], () => ({ custom_properties: manyProperties(201) })),
  participant('too_many_items', ['custom_properties'], async (me, { id }) => {
    await created(me.put(`/v2/participants/${id}`, { custom_properties: manyProperties(200) }));
    return { custom_properties: { other: 'x' } };
  }),
  participant('person_erased', ['user'], async (me) => ({ user: { id: await addErased(me) } })),
  participant('person_ambiguous', ['user'], async (me) => {
    for (const one of [kari, ola]) await addUser(me, { ...one, external_id: 'same' });
    return { user: { external_id: 'same' } };
  }),
  participant('attendance_registered', [], async (me, { dateId, id }) => {
    await createAttendance(me, id, await addGathering(me, dateId), { attended: true });
    return { user: { id: await createUser(me) } };
  }),
  admin('field_invalid', ['role_ids'], () => ({ role_ids: [isUnknown] })),
  admin('last_administrator', ['role_ids'], async (me) => ({ role_ids: [await addRole(me)] })),
  admin('field_invalid', ['-firstname', '-lastname'], () => ({
    ...{ email: `new-${Date.now()}@people.example`, firstname: '', lastname: '', role_ids: [1] },
  })),
  {
    ...{ operations: ['DELETE /v2/admin-users/:id'], code: 'last_administrator' },
    async breakIt(me, send) {
      const last = { email: `last-${me.id}@people.example`, firstname: 'B', lastname: 'B', role_ids: [1] };
      const { id } = await created(me.post('/v2/admin-users', { ...last, send_invite: false }));
      return send('DELETE', `/v2/admin-users/${id}`);
    },
  },
  searchRule('keyword_missing', ['-email', '-firstname', '-lastname', '-username'], ''),
  searchRule('field_invalid', ['email'], `?email=${'x'.repeat(300)}`),
  webhook('field_invalid', 'ftp://127.0.0.1/x'),
  webhook('address_not_public', 'http://10.0.0.1/'),
  {
    ...{ operations: ['POST /v2/webhooks'], code: 'too_many_items' },
    async breakIt(me, send) {
      const url = 'http://127.0.0.1:4000/hooks';
      for (let n = 0; n < 20; n += 1) await createWebhook(me, { url });
      return send('POST', '/v2/webhooks', { url });
    },
  },
  {
    ...{ operations: ['PUT /v2/catalog-settings'], code: 'name_taken', fields: ['slug'] },
    async breakIt(me, send) {
      const { createProvider } = await sharedTestApp();
      const slug = `taken-${me.id}`;
      await created((await createProvider()).put('/v2/catalog-settings', { slug }));
      return send('PUT', '/v2/catalog-settings', { slug });
    },
  },
  {
    ...{ operations: ['PUT /v2/catalog-settings'], code: 'field_invalid', fields: ['slug'] },
    breakIt: (_me, send) => send('PUT', '/v2/catalog-settings', { slug: '-' }),
  },
];
