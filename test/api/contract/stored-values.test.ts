import { expect, test } from 'vitest';
import { renameAdminUser } from '../../../src/domains/school/admin-users/service.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import {
  contentTypeHeader,
  dialects,
  encodeBody,
  endpointUrl,
  hashRows,
  minimalPerson,
  writeEndpoints,
  type Fields,
} from '../../support/request-bodies.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

test.each(writeEndpoints.filter(({ method }) => method === 'PUT'))(
  '$name with stored values, alone and together, changes nothing and leaves no event',
  async (endpoint) => {
    const me = await createProvider();
    const url = await endpointUrl(me, endpoint);
    const { full, minimal } = endpoint;
    const initial = await hashRows(me);
    expect((await me.put(url, full)).status).toBe(200);
    const before = await hashRows(me);
    expect(before).not.toBe(initial);
    const cursor = await newestEvent(me);
    // An endpoint with required fields replaces all others.
    const names = Object.keys(minimal).length > 0 ? [] : Object.keys(full);
    const bodies: Fields[] = [full, ...names.map((name) => ({ [name]: full[name] }))];
    for (const dialect of dialects) {
      for (const body of bodies) {
        const response = await me.put(url, encodeBody(dialect, body), contentTypeHeader(dialect));
        const sent = Object.keys(body).join(', ');
        expect([sent, response.status, await hashRows(me)], response.text).toEqual([sent, 200, before]);
      }
    }
    expect(await eventsSince(me, cursor)).toEqual([]);
  },
);

test('an admin user who is renamed to the same names stays as it is', async () => {
  const me = await createProvider();
  const names = { firstname: 'Kari', lastname: 'Nordmann' };
  const { id } = (await me.post('/v2/admin-users', minimalPerson())).json<{ id: number }>();
  await renameAdminUser(await me.ctx(), id, names);
  const [before, cursor] = [await hashRows(me), await newestEvent(me)];
  await renameAdminUser(await me.ctx(), id, names);
  expect([await hashRows(me), await eventsSince(me, cursor)]).toEqual([before, []]);
  await renameAdminUser(await me.ctx(), id, { ...names, lastname: 'Hansen' });
  expect(await hashRows(me)).not.toBe(before);
});
