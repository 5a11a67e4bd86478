import fc from 'fast-check';
import type { RouteOptions } from 'fastify';
import { expect, inject, test } from 'vitest';
import { createFeed } from '../../../src/plugins/pages/my/feeds.ts';
import { filterNames } from '../../../src/plugins/pages/catalog/dates/filters.ts';
import { payerFields, personFields } from '../../../src/plugins/pages/catalog/booking/form.ts';
import { anyBytes, anyContentType, anyQuery, anyText, months } from '../../support/any-request.ts';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { readFormFields } from '../../support/catalog-form.ts';
import { contentTypes, encodeBody } from '../../support/dialects.ts';
import { addDate } from '../../support/dates.ts';
import { createUser } from '../../support/orders.ts';
import { createLinkToken, createSessionCookie, createUserToken, visitor } from '../../support/pages.ts';
import { runs } from '../../support/property-runs.ts';
import { hostileValue } from '../../support/request-bodies.ts';
import { openTestApp, openTestDatabase, send } from '../../support/test-app.ts';

type Page = { name: string; method: string; path: string };
const pages: Page[] = [];
const collect = ({ method, url, schema }: RouteOptions) => {
  const isPage = /^\/(?:catalog|my)(?:\/|$)/.test(url) && !url.includes('*') && schema?.operationId === undefined;
  // Other methods of a page are one route that refuses them.
  if (isPage && (method === 'GET' || method === 'POST')) pages.push({ name: `${method} ${url}`, method, path: url });
};
const database = openTestDatabase(inject('shared'));
const { app, createProvider } = await openTestApp(database, {
  trustProxy: ['127.0.0.1'],
  parts: [{ observe: (server) => void server.addHook('onRoute', collect) }],
});

const me = await createProvider();
const base = await switchCatalogOn(me);
const { courseId, dateId } = await createBookableDate(me, { course: { title: 'Knots', tags: [{ title: 'Sea' }] } });
await addDate(me, courseId, { startAt: '2031-01-10' });
const awaited = await me.course({ title: 'Sailing' });
const summary = await bookOrFail(me, dateId, { participants: [person()] });
const [bookingId, participantId] = [Number(summary.booking_id), summary.participants[0]!.id];
const userId = await createUser(me);
const cookie = await createSessionCookie(me, userId);
const feed = await createFeed(await me.ctx(), userId);
const booking = (await createLinkToken(me, { bookingId }))!;
const offer = (await createLinkToken(me, { bookingId, participantId }))!;
const password = await createUserToken(me, 'password', userId);

/** Values of the parameters of paths by what stands before them. */
const values: [RegExp, string][] = [
  [/(?<=\/catalog\/):school/, base.replace('/catalog/', '')],
  [/(?<=\/courses\/):item(?=\/interest)/, `sailing-${awaited}`],
  [/(?<=\/courses\/):item/, `knots-${courseId}`],
  [/(?<=\/dates\/):item/, `knots-${dateId}`],
  [/(?<=\/booking\/):token/, booking],
  [/(?<=\/offer\/):token/, offer],
  [/(?<=\/password\/):token/, password],
  [/:participantId/, String(participantId)],
  [/:file/, `${feed}.ics`],
  [/:key/, 'A'.repeat(22)],
];
const toUrl = (path: string) =>
  values.reduce((url, [name, value]) => url.replace(name, value), path).replaceAll(/:\w+/g, 'x');

const internals = /\bselect .+ from\b|drizzle|\bat \/|\.[jt]sx?:\d|node_modules|postgres/i;
const types = /^(text\/(html|css|calendar|javascript|plain)|application\/(json|xml|atom\+xml))/;

async function request({ method }: Page, url: string, headers: Record<string, string> = {}, payload?: string | Buffer) {
  // Limits count by address.
  const address = Array.from({ length: 3 }, () => Math.floor(Math.random() * 256)).join('.');
  const all = { cookie, 'x-forwarded-for': `10.${address}`, ...headers };
  const response = await send(app, {
    ...{ method: method, url, headers: all },
    ...(payload !== undefined && { payload }),
  });
  expect(response.status, response.text.slice(0, 300)).toBeLessThan(500);
  if (response.status !== 204 && response.text !== '') expect(response.headers['content-type']).toMatch(types);
  expect(response.text).not.toMatch(internals);
}

const queryNames = [...filterNames, 'page', 'lang', 'from', 'to', 'limit', 'which', 'action'];
const allPages = [...new Map(pages.map((page) => [page.name, page])).values()];
const numRuns = runs(1);

test('the pages, forms and feeds of the catalog and the personal pages are found', () => {
  const names = allPages.map(({ name }) => name);
  for (const path of [
    '',
    '/dates/:item',
    '/dates.json',
    '/calendar.ics',
    '/feed.atom',
    '/sitemap.xml',
    '/dates/:item/book',
  ])
    expect(names).toContain(`GET /catalog/:school${path}`);
  expect(names).toContain('POST /catalog/:school/dates/:item/book');
  expect(names).toContain('POST /my/booking/:token');
});

test.each(allPages)(
  '$name never fails on any query',
  async (page) => {
    const url = toUrl(page.path);
    const query = fc.oneof(
      { weight: 3, arbitrary: anyQuery(queryNames) },
      { weight: 1, arbitrary: months.map((month) => `month=${encodeURIComponent(month)}`) },
    );
    await fc.assert(
      fc.asyncProperty(query, (text) => request(page, `${url}?${text}`)),
      { numRuns },
    );
  },
  60_000,
);

test.each(allPages.filter(({ path }) => path.includes(':')))(
  '$name never fails on any parameter of its path',
  async (page) => {
    const text = anyText.map((one) => one.slice(0, 500)).filter((one) => !/^\.{0,2}$/.test(one));
    const toAny = (value: string) => toUrl(page.path.replace(/:(?:item|key|token|file|participantId|theme)/, value));
    await fc.assert(
      fc.asyncProperty(text, (value) => request(page, toAny(value))),
      { numRuns },
    );
  },
  60_000,
);

const form = readFormFields(await visitor(app).get(`${base}/dates/knots-${dateId}/book`));
const fieldNames = [
  ...[...personFields, 'product'].flatMap((name) => [`${name}_1`, `${name}_2`, `${name}_${participantId}`]),
  ...[...payerFields, 'action', 'key', 'version', 'kept', 'kind', 'website', 'answer', 'date', 'fee', 'calendar'],
  ...['old', 'password', 'repeated', 'session', 'which', 'name', 'email', '__proto__', '', 'x[y]'],
];
const goodTexts = fc.constantFrom(
  'book',
  'check',
  'add',
  'remove_1',
  'accept',
  'confirm',
  'company',
  '17.05.1990',
  '1',
);
const forms = allPages.filter(({ method }) => method === 'POST');
test.each(forms)(
  '$name never fails on any field in any body format',
  async (page) => {
    const field = fc.tuple(fc.constantFrom(...fieldNames), fc.oneof(goodTexts, hostileValue));
    const fields = fc.tuple(fc.array(field, { maxLength: 6 }), fc.boolean()).map(([sent, isFilled]) => ({
      ...(isFilled && { ...form, firstname_1: 'Kari', lastname_1: 'Nordmann', email_1: 'kari@form.example' }),
      ...Object.fromEntries(sent),
    }));
    const dialect = fc.constantFrom('form', 'multipart', 'json');
    const post = (one: Record<string, unknown>, as: 'form' | 'multipart' | 'json') =>
      request(page, toUrl(page.path), { 'content-type': contentTypes[as] }, encodeBody(as, one));
    await fc.assert(fc.asyncProperty(fields, dialect, post), {
      numRuns,
    });
  },
  60_000,
);

test.each(forms)(
  '$name never fails on any bytes of any content type',
  async (page) => {
    const post = (body: Buffer, type: string) => request(page, toUrl(page.path), { 'content-type': type }, body);
    await fc.assert(fc.asyncProperty(anyBytes, anyContentType, post), { numRuns });
  },
  60_000,
);
