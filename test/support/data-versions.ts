import { setPassword } from '../../src/domains/school/auth/password-service.ts';
import { createKey, revokeKey } from '../../src/domains/school/auth/key-service.ts';
import { renameAdminUser } from '../../src/domains/school/admin-users/service.ts';
import { listCategories, categorizeCourse } from '../../src/domains/courses/courses/category-service.ts';
import { approvePartner, revokePartner } from '../../src/domains/school/schools/partner-service.ts';
import { closeProvider, openProvider } from '../../src/domains/school/schools/service.ts';
import { checkCounters } from '../../src/domains/records/counters/service.ts';
import { invite } from '../../src/domains/people/users/invitation-service.ts';
import { importObjects } from './all-responses.ts';
import { bookOrFail, deregister } from './booking.ts';
import { buildAppWith, replaceIn } from './bundle.ts';
import { addDate } from './dates.ts';
import { schoolFile } from './import-file.ts';
import { fillPath, getEndpoints, readRequests, type Owner } from './isolation.ts';
import { days, writeTable } from './isolation-table.ts';
import { write } from './orders.ts';
import { createUserToken, visitor } from './pages.ts';
import type { BuildApp, TestApp } from './test-app.ts';

/** A write of the owner's data; true if it was accepted. */
type OwnWrite = { route: string; name: string; run: (owner: Owner) => Promise<boolean> };

/** The owner's own requests, one for each route and body of the isolation table. */
const tableWrites: OwnWrite[] = writeTable.flatMap(({ route, stranger, bodies }) =>
  stranger.map((_status, n) => ({
    route,
    name: `${route}, body ${n + 1}`,
    async run({ me, ids }) {
      const [method, path] = route.split(' ') as ['POST' | 'PUT' | 'DELETE', string];
      return (await me.request(method)(fillPath(path, ids), bodies(ids)[n])).status < 300;
    },
  })),
);

/** Writes that the table's rows do not allow: they have participants, or their title is taken. */
const acceptedWrites: OwnWrite[] = [
  {
    route: 'DELETE /v2/courses/{id}',
    name: 'DELETE /v2/courses/{id} without participants',
    async run({ me }) {
      const course = await me.course();
      await me.post(`/v2/courses/${course}/coursedates`, days);
      return (await me.request('DELETE')(`/v2/courses/${course}`)).status === 200;
    },
  },
  {
    route: 'DELETE /v2/courses/{course_id}/coursedates/{id}',
    name: 'DELETE /v2/courses/{course_id}/coursedates/{id} without participants',
    async run({ me, ids }) {
      const id = await addDate(me, ids.course);
      return (await me.request('DELETE')(`/v2/courses/${ids.course}/coursedates/${id}`)).status === 200;
    },
  },
  {
    route: 'DELETE /v2/course-tags/{id}',
    name: 'DELETE /v2/course-tags/{id} of a course without campaigns',
    async run({ me, ids }) {
      return (await me.request('DELETE')(`/v2/course-tags/${ids.tagToDelete}`)).status === 200;
    },
  },
  {
    route: 'POST /courses',
    name: 'POST /courses with a new title',
    run: async ({ me }) => (await me.post('/courses', { title: 'By the older interface' })).status < 300,
  },
];

/** Writes of the command line, of the personal pages and of the service itself. */
const otherWrites = ({ app, database, createProvider }: TestApp, databaseName: string): OwnWrite[] => {
  const entries: Record<string, (owner: Owner) => Promise<unknown>> = {
    'key create, key revoke': async ({ me }) => revokeKey(database, (await createKey(await me.ctx(), {})).keyId),
    'user password': async ({ me, ids }) => setPassword(await me.ctx(), ids.user, 'correct horse battery'),
    'POST /my/password/{token}': async ({ me, ids }) => {
      const token = await createUserToken(me, 'password', ids.user);
      const { status } = await visitor(app).post(`/my/password/${token}`, { password: 'fjord og fjell' });
      if (status !== 303) throw new Error(`the password form responded with ${status}`);
    },
    'user rename': async ({ me, ids }) =>
      renameAdminUser(await me.ctx(), ids.adminUser, { firstname: 'New', lastname: 'Name' }),
    'user invite': async ({ me, ids }) => invite(await me.ctx(), { adminUserId: ids.adminUser }),
    'course categorize': async ({ me, ids }) => {
      const [category] = await listCategories(database);
      await categorizeCourse(await me.ctx(), ids.corporate, category!.category_id);
    },
    'partner approve, partner revoke': async ({ me }) => {
      const partner = await createProvider();
      await approvePartner(database, me.id, partner.id);
      await revokePartner(database, me.id, partner.id);
    },
    'provider close, provider open': async ({ me }) => {
      await closeProvider(database, me.id);
      await openProvider(database, me.id);
    },
    'doctor --fix': async ({ me, ids }) => {
      await write(me, (tx) => tx.execute(`update course_dates set num_waiting = 7 where id = ${ids.date}`));
      await checkCounters(database, { fix: true });
    },
    'import of every kind': async ({ me }) => {
      const partner = await createProvider();
      const { reasons } = await importObjects(me, schoolFile(partner.id), {}, { name: databaseName });
      if (reasons.length > 0) throw new Error(reasons.join('; '));
    },
    'promotion from the waiting list': async ({ me, ids }) => {
      const date = await addDate(me, ids.course, { capacityMax: 1, capacityWait: 1 });
      const { booking_id } = await bookOrFail(me, date);
      const { participants } = await bookOrFail(me, date, { config: { waiting_list_when_full: 1 } });
      await deregister(me, booking_id);
      const { status_id } = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<{ status_id: number }>();
      if (status_id === participants[0]!.status_id) throw new Error('the waiting participant was not promoted');
    },
  };
  return Object.entries(entries).map(([name, run]) => ({
    route: name,
    name,
    run: async (owner) => {
      await run(owner);
      return true;
    },
  }));
};

export const allWrites = (testApp: TestApp, databaseName: string): OwnWrite[] => [
  ...tableWrites,
  ...acceptedWrites,
  ...otherWrites(testApp, databaseName),
];

/** URLs of every list that has an ETag, with each include and with all of them. */
export async function cachedUrls(testApp: TestApp, { me, ids }: Owner) {
  const endpoints = getEndpoints(testApp).filter(({ method }) => method === 'GET');
  const urls = endpoints.flatMap((endpoint) =>
    readRequests(endpoint, ids)
      .filter(({ partnerQuery }) => partnerQuery === '')
      .map(({ url }) => ({ route: endpoint.name, url })),
  );
  const responses = await Promise.all(urls.map(async (one) => ({ ...one, ...(await me.get(one.url)) })));
  return responses.filter(({ headers }) => headers['etag'] !== undefined).map(({ route, url }) => ({ route, url }));
}

const wrongArea = replaceIn(
  'wrong-area',
  /courses\/instructors\/service\.ts$/,
  "areas: ['catalog']",
  "areas: ['money']",
);

let withWrongArea: Promise<BuildApp> | undefined;
/** `buildApp` in which a new instructor moves the clock of another area. */
export const buildAppWithWrongArea = () => (withWrongArea ??= buildAppWith(wrongArea));
