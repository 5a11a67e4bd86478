import { once } from 'node:events';
import { get as httpGet, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { todayIn } from '../../../src/core/timestamps.ts';
import type { Rate } from '../../../src/http/auth/rate-limit.ts';
import { listKeys, revokeKey } from '../../../src/domains/school/auth/key-service.ts';
import { customers } from '../../../src/database/tables/customers.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { createCustomer, createOrder, createProduct, createUser, mainProduct, write } from '../../support/orders.ts';
import { createPublicCatalog, revealsSecret } from '../../support/public-catalog.ts';
import {
  limits,
  openTestApp,
  openTestDatabase,
  ownDatabase,
  settings,
  sharedTestApp,
  type Provider,
  type TestResponse,
} from '../../support/test-app.ts';
import { createVariedData } from '../../support/varied-data.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const { me, ids } = await createVariedData(testApp);

type Item = Record<string, any>;
type Row = Record<string, string>;
const paths = ['/v2/participants', '/v2/orders', '/v2/coursedates', '/v2/customers', '/v2/course-users'];
const idOf = (item: Item) => String(item['coursedate_id'] ?? item['id']);
const withQuery = (path: string, query: string) => `${path}?${query}`;

const isCsv = ({ headers }: TestResponse) => String(headers['content-type']).startsWith('text/csv');
const namesOf = (text: string) => text.slice(1, text.indexOf('\r\n')).split(/[,;]/);

function rowsOf(response: TestResponse, delimiter = ','): Row[] {
  expect([response.status, response.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  return parse(response.text, { bom: true, columns: true, delimiter, record_delimiter: '\r\n' });
}
const readRows = async (path: string, query = '', reader: Pick<Provider, 'get'> = me) =>
  rowsOf(await reader.get(withQuery(path, `format=csv&${query}`)));

async function readItems(path: string, query = '', reader: Pick<Provider, 'get'> = me): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 1; ; page += 1) {
    const response = await reader.get(withQuery(path, `${query}&limit=250&page=${page}`));
    expect(response.status, response.text).toBe(200);
    const body = response.json<Item[] | { items: Item[] }>();
    const items = Array.isArray(body) ? body : body.items;
    all.push(...items);
    if (items.length < 250) return all;
  }
}

const valueAt = (item: Item, name: string) => name.split('.').reduce<any>((value, part) => value?.[part], item);

/** The cell of a value of the response as JSON. */
function toCell(value: string | number | boolean | object | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  return typeof value === 'string' && /^(?:\s*[=+\-@＝＋－＠]|[\t\r])/.test(value) ? `'${value}` : String(value);
}
const toRow = (item: Item, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, toCell(valueAt(item, name))]));

describe.each(paths)('%s', (path) => {
  const toRows = (item: Item): Item[] =>
    path !== '/v2/orders' || item['lines'].length === 0
      ? [{ ...item, lines: item['lines'] && {} }]
      : item['lines'].map((line: Item) => ({ ...item, lines: line }));

  test('has the members of the response as JSON by their paths', async () => {
    const response = await me.get(withQuery(path, 'format=csv'));
    expect(response.text).toMatch(/^\uFEFF[^\r\n]+\r\n/);
    const rows = rowsOf(response);
    const items = await readItems(path);
    expect(items.length).toBeGreaterThan(5);
    const names = namesOf(response.text);
    expect(rows).toEqual(items.flatMap(toRows).map((item) => toRow(item, names)));
    const name = path.split('/').at(-1);
    const disposition = `attachment; filename="${name}-${todayIn(settings.timezone)}.csv"`;
    expect(response.headers['content-disposition']).toBe(disposition);
    for (const absent of ['etag', 'link', 'content-length', 'x-ignored-parameters'])
      expect(response.headers).not.toHaveProperty(absent);
    const own = Object.entries(items[0]!).filter(([, value]) => typeof value !== 'object');
    expect(names).toEqual(expect.arrayContaining(own.map(([name]) => name)));
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(['created_at_min=2026-01-05', 'order_by=updated_at&order_direction=desc', 'order_direction=desc', 'q=a'])(
    'has the items of %s in their order',
    async (query) => {
      const found = (await readRows(path, query)).map(idOf);
      expect([...new Set(found)]).toEqual((await readItems(path, query)).map(idOf));
    },
  );

  test('has the pages of the response as JSON', async () => {
    for (const query of ['limit=2', 'limit=2&page=2', 'limit=2&page=2&order_direction=desc', 'limit=10000', 'page=2']) {
      const json = await me.get(withQuery(path, query));
      const body = json.json<Item[] | { items: Item[] }>();
      const csv = await me.get(withQuery(path, `${query}&format=csv`));
      const found = rowsOf(csv).map(idOf);
      expect([...new Set(found)], query).toEqual((Array.isArray(body) ? body : body.items).map(idOf));
      if (!Array.isArray(body)) continue;
      const next = json.headers['link'] as string | undefined;
      const expected = next?.replace(/page=\d+|since_id=\d+/, '');
      expect((csv.headers['link'] as string | undefined)?.replace(/format=csv&?|page=\d+|since_id=\d+/g, '')).toBe(
        expected,
      );
    }
  });

  test('HEAD has the headers alone', async () => {
    const own = ['date', 'x-request-id', 'transfer-encoding'];
    const headersOf = ({ headers }: TestResponse) => Object.entries(headers).filter(([name]) => !own.includes(name));
    const response = await me.request('HEAD')(withQuery(path, 'format=csv'));
    expect([response.status, response.text]).toEqual([200, '']);
    expect(headersOf(response)).toEqual(headersOf(await me.get(withQuery(path, 'format=csv'))));
    expect((await me.request('HEAD')(withQuery(path, 'format=xlsx'))).status).toBe(400);
  });

  test('refuses other formats and delimiters', async () => {
    for (const query of ['format=xlsx', 'format=CSV', 'format=csv&delimiter=tab', 'delimiter=;']) {
      const response = await me.get(withQuery(path, query), { accept: 'text/csv' });
      const name = query.includes('delimiter') ? 'delimiter' : 'format';
      expect([response.status, response.json()]).toEqual([400, { error: `Field(s) not valid: ${name}` }]);
    }
    const refused = await me.get(withQuery(path, 'format=csv&since_id=1&order_direction=desc'));
    expect([refused.status, refused.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
    expect(refused.headers).not.toHaveProperty('content-disposition');
  });

  test('shows nothing of another school', async () => {
    const other = await createProvider();
    expect(await readRows(path, '', other)).toEqual([]);
    expect((await other.get(withQuery(path, 'format=csv'))).text).toMatch(/^\uFEFF[^\r\n]+\r\n$/);
  });

  test('answers to JSON carry the headers that they had', async () => {
    const { headers, text } = await me.get(path);
    expect(headers['vary']).toBe('Accept-Encoding, Accept-Language, X-API-Key');
    expect(headers).not.toHaveProperty('content-disposition');
    for (const accept of ['application/json', '*/*', 'text/html, */*;q=0.8', 'text/csv;q=0.9, application/json']) {
      const response = await me.get(path, { accept });
      expect(response.text).toBe(text);
      // The ETag follows categories and places too, which other tests write.
      const varying = { date: '', 'x-request-id': '', etag: '' };
      expect({ ...response.headers, ...varying }).toEqual({ ...headers, ...varying });
    }
    const csv = await me.get(withQuery(path, 'format=csv'));
    expect(csv.headers['vary']).toBe('Accept-Encoding, Accept-Language, X-API-Key, Accept');
    expect(csv.headers['cache-control']).toBe('private, no-cache');
    expect(isCsv(await me.get(path, { accept: 'text/csv', 'if-none-match': String(headers['etag']) }))).toBe(true);
  });
});

test.each<[string | undefined, boolean]>([
  ['text/csv', true],
  ['TEXT/CSV; charset=utf-8', true],
  ['text/csv, application/json;q=0.9', true],
  ['application/json;q=0.5,text/csv;q=0.6, */*;q=0.1', true],
  ['text/csv;q=0.5', true],
  ['text/csv, application/json', false],
  ['text/csv, */*', false],
  ['text/csv;q=0.5, */*;q=0.8', false],
  ['text/csv;q=0.5, application/json;q=0.5', false],
  ['text/csv;q=0', false],
  ['text/csv;q=x', false],
  ['text/csv;q=5, application/json', false],
  ['text/csv;q=Infinity, application/json', false],
  ['text/*', false],
  ['text/html', false],
  ['', false],
  [undefined, false],
])('Accept: %s', async (accept, expected) => {
  const headers: Record<string, string> = accept === undefined ? {} : { accept };
  expect(isCsv(await me.get('/v2/customers', headers))).toBe(expected);
  expect(isCsv(await me.get('/v2/customers?format=json', headers))).toBe(false);
  expect(isCsv(await me.get('/v2/customers?format=csv', headers))).toBe(true);
  expect(isCsv(await me.get('/v2/customers?format=', headers))).toBe(expected);
  // Lists without spreadsheets.
  for (const path of ['/v2/locations', '/v2/courses', '/courses'])
    expect(isCsv(await me.get(path, headers))).toBe(false);
});

test('lists without spreadsheets ignore the parameters', async () => {
  for (const path of [
    '/v2/locations',
    '/v2/instructors',
    '/v2/nextcoursedates',
    `/v2/courses/${ids.courses[0]}/coursedates`,
  ]) {
    const response = await me.get(withQuery(path, 'format=csv&delimiter=tab&spreadsheet=1'));
    const ignored = 'format, delimiter, spreadsheet';
    expect([response.status, response.headers['x-ignored-parameters']]).toEqual([200, ignored]);
    expect(response.text).toBe((await me.get(path)).text);
  }
});

test('quotes what has to be, and makes texts safe that begin as formulas do', async () => {
  const school = await createProvider();
  const texts = [
    '=1+1',
    '+47 123',
    '-5',
    '@sum',
    '\tx',
    '\rx',
    '＝1',
    "'=1",
    'a=1',
    ' =1',
    '\n=1+1',
    ' \n\u00a0+1',
    '\n1',
    'a,b;c',
    'say "hi"',
    'a\nb',
    'a\r\nb',
    '"',
  ];
  for (const [n, note] of texts.entries())
    await createCustomer(school, { title: `C ${n}`, note, phone: '+4712345678' });
  for (const delimiter of ['comma', 'semicolon']) {
    const response = await school.get(`/v2/customers?format=csv&delimiter=${delimiter}`);
    const rows = rowsOf(response, delimiter === 'comma' ? ',' : ';');
    const safe = texts.map((text) => (/^(?:\s*[=+\-@＝]|[\t\r])/.test(text) ? `'${text}` : text));
    expect(rows.map(({ note }) => note)).toEqual(safe);
    for (const text of ["'\rx", 'a\nb', 'a\r\nb']) expect(response.text).toContain(`"${text}"`);
    expect(new Set(rows.map(({ phone }) => phone))).toEqual(new Set(["'+4712345678"]));
    expect(response.text.includes(';always_use_customer_reference;')).toBe(delimiter === 'semicolon');
  }
});

test('spreadsheet=1 has decimal commas, semicolons, and texts with digits as text cells', async () => {
  const school = await createProvider();
  const courseId = await school.course();
  const productId = await mainProduct(school, courseId);
  await createOrder(school, {
    ...{ courseId, users: [], order: { yourReference: '0012', booker: 'Kari "K" Li' } },
    lines: [{ productId, quantity: 1, priceAtOrder: '118.59', discountCalculatedAtOrder: '10.01' }],
  });
  const read = async (query: string) => (await school.get(`/v2/orders?format=csv&${query}`)).text;
  const text = await read('spreadsheet=1');
  const [row]: Row[] = parse(text, { bom: true, columns: true, delimiter: ';' });
  expect(row).toMatchObject({
    ...{ 'lines.price_at_order_per_item_vat_excluded': '118,59', 'lines.discount_calculated_at_order': '10,01' },
    ...{ your_reference: '="0012"', booker: 'Kari "K" Li', is_paid: 'false' },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:+]+$/) as string,
  });
  expect(text).toContain(';"=""0012""";');
  const [plain]: Row[] = parse(await read(''), { bom: true, columns: true });
  expect(plain).toMatchObject({ 'lines.price_at_order_per_item_vat_excluded': '118.59', your_reference: '0012' });
  expect(await read('spreadsheet=0')).toBe(await read(''));
  const [withCommas]: Row[] = parse(await read('spreadsheet=1&delimiter=comma'), { bom: true, columns: true });
  expect(withCommas).toEqual(row);
  expect((await school.get('/v2/orders?spreadsheet=1')).text).toBe((await school.get('/v2/orders')).text);

  const phones = ['0047 99887766', '00123', '1/2', '1E5', '7080001113360', '+47 1', 'say "5"', 'Bergen', '=SUM(A)'];
  for (const phone of phones) await createCustomer(school, { title: 'C', phone, note: 'a\n1' });
  const customerRows: Row[] = parse((await school.get('/v2/customers?format=csv&spreadsheet=1')).text, {
    ...{ bom: true, columns: true, delimiter: ';' },
  });
  expect(customerRows.map(({ phone }) => phone)).toEqual([
    ...phones.slice(0, 6).map((phone) => `="${phone}"`),
    ...['="say ""5"""', 'Bergen', "'=SUM(A)"],
  ]);
  expect(customerRows[0]).toMatchObject({ note: 'a\n1', 'country.id': '578', id: expect.stringMatching(/^\d+$/) });
});

test('negative numbers and dates stay as they are, money has a decimal point', async () => {
  const school = await createProvider();
  const courseId = await school.course();
  const productId = await mainProduct(school, courseId);
  await createOrder(school, {
    courseId,
    lines: [{ productId, priceAtOrder: '100.50', discountCalculatedAtOrder: '300' }],
  });
  const [row] = await readRows('/v2/orders', '', school);
  expect(row).toMatchObject({
    'calculated_totals.total_amount_after_discounts': '-199.5',
    'lines.price_at_order_per_item_vat_excluded': '100.5',
    is_paid: 'false',
    exported_at: '',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/),
  });
});

test('an order has a row for each of its lines, and one without any', async () => {
  const school = await createProvider();
  const courseId = await school.course();
  const [one, two] = [await mainProduct(school, courseId), await createProduct(school, courseId, { title: 'Book' })];
  const both = await createOrder(school, { courseId, lines: [{ productId: one }, { productId: two, quantity: 3 }] });
  const none = await createOrder(school, { courseId, lines: [] });
  const rows = await readRows('/v2/orders', '', school);
  expect(rows.map((row) => [row['id'], row['lines.id'], row['lines.quantity'], row['lines.product.id']])).toEqual([
    [String(both.orderId), String(both.lineIds[0]), '1', String(one)],
    [String(both.orderId), String(both.lineIds[1]), '3', String(two)],
    [String(none.orderId), '', '', ''],
  ]);
  // A page has that many orders.
  expect((await readRows('/v2/orders', 'limit=1', school)).map((row) => row['lines.id'])).toEqual(
    both.lineIds.map(String),
  );
});

test('a participant has its course user, and of the customer the title', async () => {
  const school = await createProvider();
  const customerId = await createCustomer(school, { title: 'Fjord AS' });
  const user = await createUser(school, { firstname: 'Åse', phone: '+47 12', customerId });
  await createOrder(school, { courseId: await school.course({ title: 'Baking' }), users: [user] });
  const [row] = await readRows('/v2/participants', '', school);
  expect(row).toMatchObject({
    ...{ 'user.firstname': 'Åse', 'user.phone': "'+47 12", 'course.title': 'Baking', 'status.title': 'Confirmed' },
    ...{ 'user.customer.id': String(customerId), 'user.customer.title': 'Fjord AS' },
  });
  expect(row).not.toHaveProperty(['user.customer.email']);
});

test('includes of one item have columns, those of lists none', async () => {
  const response = await me.get('/v2/coursedates?format=csv&include[]=location&include[]=gatherings');
  const names = namesOf(response.text);
  expect(names).toEqual(expect.arrayContaining(['location.title', 'location.city']));
  expect(names.filter((name) => /gatherings|course\./.test(name))).toEqual([]);
  const items = await readItems('/v2/coursedates', 'include[]=location');
  expect(rowsOf(response).map((row) => row['location.title'])).toEqual(
    items.map(({ location }) => toCell(location?.title)),
  );
});

test("partners' dates show their open members alone", async () => {
  const query = 'include_partners=1&include[]=provider&order_by=startdate';
  const rows = await readRows('/v2/coursedates', query);
  const items = await readItems('/v2/coursedates', query);
  expect(rows.map((row) => [idOf(row), row['reference'], row['provider.id']])).toEqual(
    items.map((item) => [idOf(item), toCell(item['reference']), toCell(item['provider'].id)]),
  );
  expect(new Set(rows.map((row) => row['provider.id']))).toEqual(new Set([String(me.id), String(ids.partner)]));
});

test('a publishable key reads the public dates with their open members alone', async () => {
  const school = await createPublicCatalog(testApp);
  const key = await withProfile(testApp, school.me, 'publishable');
  for (const query of ['', 'include[]=course&include[]=location&include[]=provider', 'order_by=startdate']) {
    const rows = await readRows('/v2/coursedates', query, key);
    const items = await readItems('/v2/coursedates', query, key);
    expect(rows.map(idOf)).toEqual(items.map(idOf));
    expect(rows.map(idOf).toSorted()).toEqual(school.publicIds.dates.map(String).toSorted());
    for (const [n, row] of rows.entries()) expect(row).toEqual(toRow(items[n]!, Object.keys(row)));
    expect(revealsSecret(JSON.stringify(rows))).toBe(false);
  }
  expect((await readRows('/v2/coursedates', '', key))[0]).not.toHaveProperty('reference');
  expect((await key.get('/v2/coursedates?format=csv&q=a')).status).toBe(403);
  expect((await key.get('/v2/participants?format=csv')).status).toBe(403);
  expect((await key.get('/v2/coursedates', { accept: 'text/csv' })).headers['vary']).toMatch(/, Origin, Accept$/);
});

/** Customers in groups of equal timestamps, more than a batch of the service has. */
const addCustomers = (school: Provider, count: number, note = '') =>
  write(school, (tx) =>
    tx.execute(sql`insert into customers (provider_id, title, note, created_at, updated_at)
      select ${school.id}, 'Customer ' || n, ${note}, timestamptz '2026-01-01' + (n % 7) * interval '1 day',
        timestamptz '2026-02-01 12:00:00.000001' + n % 2 * interval '1 microsecond' from generate_series(1, ${count}) n`),
  );

test('all rows come in each order, also of equal values and with filters', async () => {
  const school = await createProvider();
  await addCustomers(school, 1_100);
  for (const order of ['', 'order_direction=desc', 'order_by=created_at', 'order_by=updated_at&order_direction=desc'])
    for (const filter of [
      '',
      'created_at_min=2026-01-03',
      'updated_at_max=2026-02-01 12:00:00.000002',
      'q=customer',
      'since_id=1',
    ]) {
      if (filter === 'since_id=1' && order !== '') continue;
      const query = `${order}&${filter}`;
      const expected = (await readItems('/v2/customers', query, school)).map(idOf);
      expect(expected.length).toBeGreaterThan(500);
      expect((await readRows('/v2/customers', query, school)).map(idOf), query).toEqual(expected);
    }
});

/** An application that a client reads over a socket, with large customers: more than the buffers of a connection hold. */
async function openListening(rate?: Rate) {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const database = openTestDatabase(await ownDatabase());
  const own = await openTestApp(database, {
    logger,
    limits: { ...limits, rate, lists: { atOnce: 1, waitMs: 30_000 } },
  });
  onTestFinished(own.close);
  await own.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = own.app.server.address() as AddressInfo;
  let latest: ServerResponse | undefined;
  own.app.server.on('request', (_request, response) => (latest = response));
  const limiter = own.app.listCache.limiter!;
  /** Waits until the buffers of the connection are full. */
  const untilPaused = () =>
    expect
      .poll(() => {
        const { open, idle } = database.usage().connections;
        return [latest!.writableNeedDrain, limiter.usage().running, open - idle];
      })
      .toEqual([true, 0, 0]);
  const school = await own.createProvider();
  await addCustomers(school, 2_400, 'x'.repeat(10_000));
  /** Begins to read and pauses. */
  async function begin(query = '') {
    const request = httpGet({
      port,
      path: `/v2/customers?format=csv&${query}`,
      headers: { 'x-api-key': school.apiKey },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    request.on('error', () => undefined);
    return { request, response };
  }
  return { ...own, school, begin, untilPaused, limiter, lines };
}

async function readRest(response: IncomingMessage) {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const rows: Row[] = parse(Buffer.concat(parts), { bom: true, columns: true });
  return rows;
}

test('a row that moves while a client reads slowly is not missed, nor are the others', async () => {
  const { school, begin } = await openListening();
  const { response } = await begin('order_by=updated_at');
  const [first] = (await school.get('/v2/customers?order_by=updated_at&limit=1')).json<[Item]>();
  const late = (await school.get('/v2/customers?order_by=updated_at&order_direction=desc&limit=1')).json<[Item]>()[0];
  await write(school, (tx, now) => tx.update(customers).set({ updatedAt: now }).where(eq(customers.id, first['id'])));
  await write(school, (tx) => tx.delete(customers).where(eq(customers.id, late['id'])));
  const found = (await readRest(response)).map(({ id }) => id);
  expect(new Set(found).size).toBe(2_399);
  expect(found.at(-1)).toBe(String(first['id']));
  expect(found.length).toBe(2_400);
});

test('a client that reads slowly holds neither a slot nor a connection', async () => {
  const { limiter, school, begin, untilPaused } = await openListening();
  const { response } = await begin();
  expect((await school.get('/v2/customers?limit=1')).status).toBe(200);
  await untilPaused();
  expect(limiter.usage().started).toBeLessThan(10);
  expect(await readRest(response)).toHaveLength(2_400);
  expect(limiter.usage().started).toBeGreaterThan(9);
});

test('an error in the middle ends the connection and is logged', async () => {
  const { database, begin, untilPaused, lines, school } = await openListening();
  const { response } = await begin();
  await untilPaused();
  await database.pool.query('alter table customers rename to elsewhere');
  await expect(readRest(response)).rejects.toThrow('aborted');
  await expect.poll(() => lines.filter((line) => line.includes('ended before its last row')).length).toBe(1);
  expect(JSON.parse(lines.find((line) => line.includes('ended before'))!)).toMatchObject({
    ...{ level: 40, provider: school.id, msg: 'GET /v2/customers ended before its last row' },
  });
  const failed = await school.get('/v2/customers?format=csv');
  expect([failed.status, failed.headers['content-type']]).toEqual([503, 'application/json; charset=utf-8']);
});

const findEnd = (lines: string[]) => lines.find((line) => line.includes('ended before its last row'));

test('the file ends before its last row once its key is revoked', async () => {
  const { database, begin, untilPaused, lines, school } = await openListening();
  const { response } = await begin();
  await untilPaused();
  const [key] = await listKeys(await school.ctx());
  await revokeKey(database, key!.key_id);
  await expect(readRest(response)).rejects.toThrow('aborted');
  expect(findEnd(lines)).toContain('Wrong API Key');
});

test('each page of a file takes a token, and the file ends where there is none', async () => {
  // No token is added while the test runs.
  const { begin, lines, school } = await openListening({ perSecond: 0.001, burst: 24 });
  const { response } = await begin();
  // A page has 250 of the 2,400 customers.
  expect(response.headers['ratelimit-remaining']).toBe('23');
  expect(await readRest(response)).toHaveLength(2_400);
  expect((await school.get('/v2/customers?limit=1')).headers['ratelimit-remaining']).toBe('13');
  for (let left = 12; left > 0; left -= 1) await school.get('/v2/schools');
  const next = await begin();
  await expect(readRest(next.response)).rejects.toThrow('aborted');
  expect(findEnd(lines)).toContain('Too many requests');
});

test('a file waits for tokens, and leaves some of them to other requests', async () => {
  const { begin, school } = await openListening({ perSecond: 100, burst: 8 });
  const { response } = await begin();
  const rows = readRest(response);
  const others = await Promise.all([1, 2].map(() => school.get('/v2/schools')));
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  expect(await rows).toHaveLength(2_400);
});

test('a client that leaves ends the reading', async () => {
  const { app, begin, untilPaused, limiter, lines } = await openListening();
  const { request } = await begin();
  await untilPaused();
  const { started } = limiter.usage();
  request.destroy();
  const connections = () => new Promise<number>((done) => app.server.getConnections((_error, count) => done(count)));
  await expect.poll(connections).toBe(0);
  expect(limiter.usage()).toMatchObject({ running: 0, waiting: 0, started });
  expect(lines.filter((line) => line.includes('ended before'))).toEqual([]);
});
