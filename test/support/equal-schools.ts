import type { InjectOptions } from 'fastify';
import { onTestFinished } from 'vitest';
import { hashPassword } from '../../src/domains/school/auth/password-service.ts';
import { importObjects } from './all-responses.ts';
import { createBookableDate } from './booking.ts';
import * as support from './isolation.ts';
import { writeTable } from './isolation-table.ts';
import { createUser } from './orders.ts';
import {
  openTestApp,
  openTestDatabase,
  ownDatabase,
  send,
  type BuildApp,
  type TestApp,
  type TestResponse,
} from './test-app.ts';

/** A response by its request, which is the same for each school but for the ids in it. */
export type Answer = { request: string; status: number; text: string };
type School = support.Owner & { dateId: number; number: number };
type Request = { method: 'POST' | 'PUT'; url: string; body: object; headers?: Record<string, string> };

/** Two schools with the same titles, codes, usernames and e-mails, each with a password of its own. */
async function createEqualSchools(testApp: TestApp): Promise<[School, School]> {
  const create = async (number: number): Promise<School> => {
    const owner = await support.createOwner(testApp);
    const course = { title: 'Equal course of both' };
    const { dateId } = await createBookableDate(owner.me, { course, capacityMax: 20 });
    await createUser(owner.me, { username: equalUser, passwordHash: await hashPassword(passwordOf(number)) });
    return { ...owner, dateId, number };
  };
  return [await create(1), await create(2)];
}

const equalUser = 'equal@people.example';
const passwordOf = (number: number) => `the long password ${number}`;
const person = { firstname: 'Equal', lastname: 'Person', email: 'person@people.example' };

/** Writes with keys that both schools use: new ones, those of the write before, and those of the data. */
const writesByKey = ({ ids, dateId, number }: School): Request[] => {
  const post = (url: string, body: object, headers?: Record<string, string>): Request => ({
    ...{ method: 'POST', url, body },
    ...(headers && { headers }),
  });
  const { marker } = support;
  const booking = { coursedate_id: dateId, payment_method: 'invoice', participants: [person] };
  const named = [{ title: 'Equal tag' }, { title: marker }, { title: 'Another equal tag' }];
  const customer = { title: 'Equal customer', customer_reference_id: 'equal-1' };
  return [
    ...['Equal tag', 'Equal tag', marker].map((title) => post('/v2/course-tags', { title })),
    post('/v2/courses', { title: 'Equal course', tags: named, labels: named }),
    post('/v2/courses', { title: 'Equal course' }),
    post('/courses', { title: 'Equal course of the older interface', tags: named }),
    { method: 'PUT', url: `/v2/courses/${ids.course}`, body: { title: 'Renamed alike', tags: named, labels: named } },
    ...[customer, customer].map((body) => post('/v2/customers', body)),
    ...[1, 2].map(() => post('/v2/booking', booking)),
    ...[1, 2].map(() => post('/v2/booking', booking, { 'idempotency-key': 'equal' })),
    post('/v2/booking', { ...booking, campaign_code: marker }),
    post('/v2/booking', { ...booking, voucher_code: marker }),
    ...[1, 2].map((one) =>
      post('/v2/check-user-credentials', {
        username: equalUser,
        password: passwordOf(one === 1 ? number : 3 - number),
      }),
    ),
  ];
};

/** Lines of an import whose keys both schools have already, and those of the file itself. */
const importedLines = [
  { kind: 'tag', ref: 'tag', title: support.marker },
  { kind: 'tag', ref: 'new-tag', title: 'Imported tag' },
  { kind: 'label', ref: 'label', title: support.marker },
  { kind: 'course', ref: 'course', title: 'Imported course', tags: ['tag', 'new-tag'], labels: ['label'] },
  { kind: 'course', ref: 'taken', title: 'Equal course' },
  { kind: 'customer', ref: 'customer', title: 'Equal customer' },
  { kind: 'user', ref: 'user', username: equalUser, firstname: 'Equal', lastname: 'Person' },
  { kind: 'user', ref: 'new-user', username: 'imported@people.example', firstname: 'Equal', lastname: 'Person' },
];

/** Sends every write by a key as one of the schools; in full also each write of the table, an import and each read. */
async function sendAll(testApp: TestApp, name: string, school: School, isFull: boolean): Promise<Answer[]> {
  const { me, ids } = school;
  const request = (method: InjectOptions['method'], url: string, body?: object, headers: Record<string, string> = {}) =>
    send(testApp.app, { method, url, headers: { 'x-api-key': me.apiKey, ...headers }, ...(body && { payload: body }) });
  const answers: Answer[] = [];
  const add = (title: string, { status, text }: Pick<TestResponse, 'status' | 'text'>) =>
    answers.push({ request: title, status, text });
  for (const { method, url, body, headers } of writesByKey(school))
    add(`${method} ${withoutIds(url)} ${withoutIds(JSON.stringify(body))}`, await request(method, url, body, headers));
  if (!isFull) return answers;
  for (const { route, bodies } of writeTable) {
    const [method, path] = route.split(' ') as ['POST', string];
    for (const [n, body] of bodies(ids).entries())
      add(`${route} ${n}`, await request(method, support.fillPath(path, ids), body));
  }
  const imported = await importObjects(me, importedLines, {}, { name });
  add('import', { status: 200, text: JSON.stringify(imported) });
  for (const endpoint of support.getEndpoints(testApp).filter(({ method }) => method === 'GET'))
    for (const { url, include, partnerQuery } of support.readRequests(endpoint, ids))
      if (partnerQuery === '' && include === undefined) add(`GET ${withoutIds(url)}`, await request('GET', url));
  return answers;
}

const withoutIds = (text: string) => text.replaceAll(/\d+/g, '#');
const isId = (name: string) => /(^|_)ids?$|^id[A-Z_]|[a-z]Ids?$|^into$/.test(name);
const isRandom = (name: string) => /^(api_key|message_id|secret|cursor)$|_ms$/.test(name);

/** The values of a response by their paths: ids, and the rest without ids, times and secrets. */
function readValues(text: string) {
  const [ids, others] = [new Map<string, unknown>(), new Map<string, unknown>()];
  const walk = (value: unknown, path: string, name: string) => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value))
        walk(one, `${path}.${key}`, Array.isArray(value) ? (typeof one === 'number' ? 'id' : name) : key);
    } else if (isRandom(name)) others.set(path, 'random');
    else if (isId(name) && /^\d+$/.test(String(value))) ids.set(path, value);
    // A catalog address is unique among all schools, by a number at its end.
    else if (name === 'catalog_url') others.set(path, withoutIds(String(value).replace(/-\d+$/, '')));
    else others.set(path, typeof value === 'string' ? withoutIds(value) : value);
  };
  walk(/^[[{]/.test(text) ? JSON.parse(text) : text, '', '');
  return { ids, others };
}

/** Ids of data that all schools share. */
export const sharedIds =
  /(place|status|language|level|form_of_teaching|time_of_day|categor|country|currency|paid|durations|seller|idUser|admin|app-users|id_type|vat)/i;

/** Sends everything as one school and then as another one with the same keys. */
export async function sendAsBoth(isFull: boolean, build?: BuildApp) {
  const name = await ownDatabase();
  const creating = await openTestApp(openTestDatabase(name));
  const [first, second] = await createEqualSchools(creating);
  await creating.close();
  const testApp = await openTestApp(openTestDatabase(name), {}, build);
  onTestFinished(testApp.close);
  const answers = await sendAll(testApp, name, first, isFull);
  const rows = await support.dumpRows(testApp, first.me.id);
  const others = await sendAll(testApp, name, second, isFull);
  const [left, right] = [await support.dumpRows(testApp, first.me.id), await support.dumpRows(testApp, second.me.id)];
  return { answers, others, rows, left, right };
}

/** The requests to which the schools get different responses, or with the same id, unless it is one of shared data. */
export function compareAnswers(first: Answer[], second: Answer[], sharedIds: RegExp) {
  return first.flatMap(({ request, status, text }, n) => {
    const other = second[n]!;
    const [a, b] = [readValues(text), readValues(other.text)];
    const differing = [...new Set([...a.others.keys(), ...b.others.keys(), ...a.ids.keys(), ...b.ids.keys()])].filter(
      (path) => a.others.get(path) !== b.others.get(path) || a.ids.has(path) !== b.ids.has(path),
    );
    const equalIds = [...a.ids].filter(([path, id]) => b.ids.get(path) === id && !sharedIds.test(`${request} ${path}`));
    const found = [
      ...(request === other.request && status === other.status ? [] : [`${status}, ${other.status} ${other.text}`]),
      ...differing.map((path) => `${path}: ${String(a.others.get(path))}, ${String(b.others.get(path))}`),
      ...equalIds.map(([path, id]) => `${path}: ${String(id)} for both`),
    ];
    return found.length > 0 ? [`${request}: ${found.slice(0, 5).join('; ')}`] : [];
  });
}
