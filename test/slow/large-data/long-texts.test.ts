import { afterAll, expect, test } from 'vitest';
import { toStreamSafe } from '../../../src/core/text.ts';
import { createInterestLink } from '../../../src/domains/courses/interests/service.ts';
import { importObjects } from '../../support/all-responses.ts';
import { createBookableDate, person } from '../../support/booking.ts';
import { readFormFields } from '../../support/catalog-form.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { addDate } from '../../support/dates.ts';
import { demoDatabase } from '../../support/demo-database.ts';
import { schoolFile } from '../../support/import-file.ts';
import {
  findDearKinds,
  headerKinds,
  letters,
  measureCpu,
  measureCpuWithDatabase,
  type MakeText,
} from '../../support/long-texts.ts';
import { listLongestRequests, type Document, type Extent } from '../../support/longest-requests.ts';
import { dereference } from '../../support/openapi.ts';
import { createLinkToken, createSessionCookie, createUserToken } from '../../support/pages.ts';
import { createUser } from '../../support/orders.ts';
import { openTestApp, openTestDatabase, send } from '../../support/test-app.ts';
import { loadUnguarded } from '../../support/unguarded.ts';

const demo = await demoDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(demo.name), { trustProxy: ['127.0.0.1'] });
afterAll(testApp.close);
const { app, createProvider } = testApp;
const pool = testApp.database.pool;

let visitors = 0;
/** Each request is one of another address, or the limits would refuse it. */
const newVisitor = () => ({ 'x-forwarded-for': `10.0.${(visitors += 1) >> 8}.${visitors & 255}` });

const { paths } = dereference<Document>((await send(testApp.app, { url: '/openapi.json' })).json<object>());
const requests = listLongestRequests({ paths });
const sendLongest = ({ toRequest }: (typeof requests)[number], make: MakeText, extent: Extent) =>
  send(testApp.app, { ...toRequest(make, extent), headers: { 'x-api-key': demo.key } });

test('the longest texts are accepted by operations that write', async () => {
  const accepted: string[] = [];
  for (const request of requests) {
    const { status } = await sendLongest(request, letters, 'valid');
    if (status < 300) accepted.push(request.name);
  }
  expect(accepted).toEqual(expect.arrayContaining(['createCourseDate', 'createCustomer', 'createTag']));
  expect(accepted.length).toBeGreaterThan(20);
});

test.each(requests.flatMap((request) => (['valid', 'longest'] as const).map((extent) => ({ ...request, extent }))))(
  '$name: texts that are $extent cost no more than letters',
  async ({ extent, ...request }) => {
    expect(await findDearKinds((make) => measureCpu(() => sendLongest(request, make, extent)))).toEqual([]);
  },
);

type Form = { url: string; fields: string[]; others?: Record<string, string>; headers?: Record<string, string> };
const formBytes = 65_000;
const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

/** Fields of equal lengths, which for texts of this kind are as long as a body of `formBytes` may be. */
function toBody({ fields, others = {} }: Form, count: number, make: MakeText, ofKind: MakeText) {
  const toFields = (made: MakeText, length: number) =>
    encode({ ...others, ...Object.fromEntries(fields.slice(0, count).map((field) => [field, made(length)])) });
  const least = toFields(ofKind, 10).length;
  const bytesOfUnit = (toFields(ofKind, 910).length - least) / 900;
  return toFields(make, Math.floor((formBytes - least) / bytesOfUnit));
}

const findDearForms = (form: Form, count: number) =>
  findDearKinds(
    (make, ofKind) => {
      const payload = toBody(form, count, make, ofKind);
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...newVisitor(), ...form.headers };
      return measureCpu(() => send(app, { method: 'POST', url: form.url, headers, payload }));
    },
    { isSameLength: false },
  );

async function listForms(): Promise<Record<string, Form>> {
  const me = await createProvider();
  const base = await switchCatalogOn(me, { fields: { comment: 'required', company: 'required' } });
  const dateId = await addDate(me, await me.course({ title: 'Splices', price_value: 0 }), { startAt: '2031-01-02' });
  const courseId = await me.course({ title: 'Knots' });
  const interest = `${base}/courses/knots-${courseId}/interest`;
  const booking = `${base}/dates/splices-${dateId}/book`;
  const shown = readFormFields(await send(app, { method: 'GET', url: booking }));
  const texts = Object.entries(shown).flatMap(([name, value]) => (value === '' && name !== 'website' ? [name] : []));
  const key = { key: shown['key']!, version: shown['version']! };
  const group = await createBookableDate(me);
  const booked = await me.post('/v2/booking', { coursedate_id: group.dateId, payment_method: 'invoice', places: 10 });
  const { booking_id, participants } = booked.json<{
    summary: { booking_id: string; participants: { id: number }[] };
  }>().summary;
  const link = await createLinkToken(me, { bookingId: Number(booking_id) });
  const names = participants.flatMap(({ id }) => ['firstname', 'lastname', 'email'].map((field) => `${field}_${id}`));
  const [place] = participants;
  const offer = await createLinkToken(me, { bookingId: Number(booking_id), participantId: place!.id });
  const asked = await me.post(`/v2/courses/${courseId}/interests`, { email: 'ida@form.example' });
  expect(asked.status).toBe(202);
  const { rows } = await pool.query<{ id: number }>('select id::int from course_interests where provider_id = $1', [
    me.id,
  ]);
  const confirmed = await createInterestLink(testApp.database.unlocked, { providerId: me.id, interestId: rows[0]!.id });
  const userId = await createUser(me, { username: 'ida@form.example', email: 'ida@form.example' });
  const headers = { cookie: await createSessionCookie(me, userId) };
  return {
    interest: { url: interest, fields: ['name', 'email'] },
    'price of a booking': { url: booking, fields: texts, others: { ...key, action: 'check' } },
    booking: { url: booking, fields: texts, others: { ...key, action: 'book' } },
    'names of places': { url: `/my/booking/${link}`, fields: names },
    'new password': { url: '/my/password', fields: ['old', 'password', 'repeated'], headers },
    'first password': { url: `/my/password/${await createUserToken(me, 'password', userId)}`, fields: ['password'] },
    sessions: { url: '/my/sessions', fields: ['old'], others: { which: 'all' }, headers },
    details: { url: '/my/details', fields: ['calendar'], headers },
    'log out': { url: '/my/log-out', fields: ['all'], headers },
    'cancel a place': { url: `/my/booking/${link}/cancel/${place!.id}`, fields: ['date', 'fee', 'answer'] },
    'cancel an own place': { url: `/my/courses/${place!.id}/cancel`, fields: ['date', 'fee', 'answer'], headers },
    offer: { url: `/my/offer/${offer}`, fields: ['answer'] },
    'confirm an interest': { url: `/my/interest/${confirmed!}`, fields: ['answer'] },
  };
}
const forms = Object.entries(await listForms()).flatMap(([name, form]) => [
  { name: `${name}, all fields`, form, count: form.fields.length },
  { name: `${name}, one field`, form, count: 1 },
]);

test.each(forms)('the form $name: no text costs more than letters', { timeout: 600_000 }, async ({ form, count }) => {
  expect(await findDearForms(form, count)).toEqual([]);
});

test('the search and the filters of a catalog cost no more than of letters', async () => {
  const me = await createProvider();
  const base = await switchCatalogOn(me);
  const courseId = await me.course({ title: 'Knots' });
  for (let n = 0; n < 20; n += 1) await addDate(me, courseId, { startAt: '2031-01-02' });
  const filters = ['?q=', '?place=', '?category=', '?month=', '?page=', '?language=', '?lang='];
  const feeds = [
    '/dates.json?q=',
    '/dates.json?from=',
    '/calendar.ics?tag=',
    '/feed.atom?tag=',
    `/courses/x-${courseId}?x=`,
  ];
  for (const path of [...filters, ...feeds])
    expect(
      await findDearKinds((make) =>
        measureCpu(() => send(app, { url: `${base}${path}${encodeURIComponent(make(1_500))}` })),
      ),
      path,
    ).toEqual([]);
});

test.each([
  ...['/my/password/', '/my/sign-in/', '/my/booking/', '/my/offer/', '/my/interest/', '/my/calendar/', '/my/courses/'],
  ...[
    '/catalog/',
    '/catalog/x/courses/',
    '/catalog/x/dates/',
    '/catalog/x/booked/',
    '/catalog/x/theme-',
    '/docs/guides/',
  ],
  ...['/nothing/', '/v2/courses/', '/my/nothing/'],
])('the path %s with a long text costs no more than with letters', async (path) => {
  const headers = newVisitor();
  for (const end of ['', '.ics', '/book'])
    for (const length of [90, 1_500])
      expect(
        await findDearKinds((make) =>
          measureCpu(() => send(app, { url: `${path}${encodeURIComponent(make(length))}${end}`, headers })),
        ),
        `${end} ${length}`,
      ).toEqual([]);
});

const headerBytes = 15_000;
test.each([
  ...['accept', 'accept-language', 'accept-encoding', 'if-none-match', 'prefer', 'cookie', 'content-type', 'origin'],
  ...[
    'idempotency-key',
    'x-api-key',
    'x-request-id',
    'traceparent',
    'host',
    'content-encoding',
    'sec-purpose',
    'referer',
  ],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'access-control-request-headers', 'authorization'],
])('the longest header %s costs no more than of letters', async (name) => {
  const me = await createProvider();
  const base = await switchCatalogOn(me);
  const known = { 'x-api-key': demo.key };
  for (const request of [
    { method: 'GET', url: '/v2/courses?limit=1', headers: known },
    { method: 'POST', url: '/v2/course-tags', headers: known, payload: { title: '' } },
    { method: 'OPTIONS', url: '/v2/courses', headers: { 'access-control-request-method': 'GET' } },
    { method: 'GET', url: base, headers: {} },
    { method: 'GET', url: '/my', headers: {} },
  ] as const)
    expect(
      await findDearKinds(
        (make) => {
          const headers = { ...newVisitor(), ...request.headers, [name]: make(headerBytes) };
          return measureCpu(() => send(app, { ...request, headers }));
        },
        { of: headerKinds },
      ),
      `${request.method} ${request.url}`,
    ).toEqual([]);
});

test('an import of long texts costs no more than of letters', { timeout: 600_000 }, async () => {
  const isText = /^(title|firstname|lastname|name|theme|description|comment|note|text|address|company)/;
  let texts = 0;
  const lengthen = (value: unknown, name: string, make: MakeText): unknown => {
    if (name === 'fields') return value;
    if (Array.isArray(value)) return value.map((one) => lengthen(one, name, make));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, lengthen(one, key, make)]));
    return typeof value === 'string' && isText.test(name) ? `${make(240)}${(texts += 1)}` : value;
  };
  const importAll = async (make: MakeText) => {
    const me = await createProvider();
    const lines = schoolFile((await createProvider()).id).map((line) => lengthen(line, '', make) as typeof line);
    return measureCpuWithDatabase(pool, async () => {
      const { reasons } = await importObjects(me, lines, {}, { name: demo.name });
      expect(reasons).toEqual([]);
    });
  };
  expect(await findDearKinds(importAll, { noise: 50 })).toEqual([]);
});

test('a stored title of raw combining marks costs no more than one of letters', { timeout: 600_000 }, async () => {
  const measure = (make: MakeText) =>
    measureCpuWithDatabase(pool, () =>
      pool.query('select count(fold_text($1 || n)) from generate_series(1, 100) n', [make(250).replaceAll('\0', '')]),
    );
  expect(await findDearKinds(measure, { noise: 50 })).toEqual([]);
});

test(
  'a booking of 1,000 long names costs no more than of letters, in the database too',
  { timeout: 600_000 },
  async () => {
    const book = async (make: MakeText) => {
      const me = await createProvider();
      const { dateId } = await createBookableDate(me, { capacityMax: 0 });
      const participants = Array.from({ length: 1_000 }, (_person, n) => ({
        ...person(),
        firstname: make(150) + String(n),
        lastname: make(150),
      }));
      return measureCpuWithDatabase(pool, async () => {
        const body = { coursedate_id: dateId, payment_method: 'invoice', participants };
        const response = await me.post('/v2/booking', body);
        expect(response.status, response.text.slice(0, 200)).toBe(201);
      });
    };
    expect(await findDearKinds(book, { noise: 50 })).toEqual([]);
  },
);

test.each([
  ['fold_text(text)'],
  ['search_words(1, text)'],
  ['search_query(1, text)'],
  [`lower(text collate "und-x-icu")`],
  [`regexp_replace(text, '\\+[^@]*@', '@')`],
])('%s takes time in proportion to the length', { timeout: 600_000 }, async (expression) => {
  const measure = (make: MakeText) => {
    const text = toStreamSafe(make(5_000)).replaceAll('\0', '');
    const query = `select count(${expression}) from (select $1 || n as text from generate_series(1, 200) n) t`;
    return measureCpuWithDatabase(pool, () => pool.query(query, [text]));
  };
  expect(await findDearKinds(measure, { noise: 50 })).toEqual([]);
});

test('negative control: with a header that is not cut the costs are found', async () => {
  const { buildApp, openDatabase } = await loadUnguarded(['cutPreferences']);
  const slow = await openTestApp(openTestDatabase(demo.name, {}, openDatabase), {}, buildApp);
  try {
    const sendSlowly = (make: MakeText) =>
      send(slow.app, { url: '/v2/courses?limit=1', headers: { 'x-api-key': demo.key, prefer: make(headerBytes) } });
    const found = await findDearKinds((make) => measureCpu(() => sendSlowly(make)), { of: headerKinds });
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(/^escaped quotes: /)]));
  } finally {
    await slow.close();
  }
});

test('negative control: with a pattern that takes quadratic time the costs are found', async () => {
  const { buildApp, openDatabase } = await loadUnguarded(['linearTexts']);
  const slow = await openTestApp(openTestDatabase(demo.name, {}, openDatabase), {}, buildApp);
  try {
    const request = requests.find(({ name }) => name === 'createCourseDate')!;
    const sendSlowly = (make: MakeText) =>
      send(slow.app, { ...request.toRequest(make, 'longest'), headers: { 'x-api-key': demo.key } });
    const found = await findDearKinds((make) => measureCpu(() => sendSlowly(make)));
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(/^blanks: /)]));
  } finally {
    await slow.close();
  }
});
