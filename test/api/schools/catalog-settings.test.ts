import { afterAll, expect, test } from 'vitest';
import { importObjects } from '../../support/all-responses.ts';
import { updateCatalogSettings } from '../../../src/domains/school/catalog-settings/service.ts';
import { contentTypeHeader, dialects, encodeBody, type Dialect, type Fields } from '../../support/request-bodies.ts';
import { openTestApp, settings, sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider, database } = testApp;
const own = await openTestApp(database, { settings: { ...settings, catalogUrl: null } });
afterAll(() => own.app.close());

const url = '/v2/catalog-settings';
const defaults = {
  ...{ enabled: false, slug: null, host: null, url: null, index: true },
  theme: { accent: null, background: null, font: 'sans' },
  fields: { phone: 'optional', company: 'optional', position: 'off', date_of_birth: 'off', comment: 'optional' },
  ...{ terms_url: null, privacy_url: null, withdrawal_text: null },
};
const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;

const read = async (me: Provider) => (await me.get(url)).json<Fields>();
const put = (me: Provider, fields: Fields, dialect: Dialect = 'json') =>
  me.put(url, encodeBody(dialect, fields), contentTypeHeader(dialect));
let schools = 0;
const newSlug = () => `Slug-${process.pid}-${(schools += 1)}`;

test('a school without settings has the defaults, and storing these stores nothing', async () => {
  const me = await createProvider();
  expect(await read(me)).toEqual({ ...defaults, updated_at: null });
  expect((await put(me, { ...(await read(me)), updated_at: undefined })).json()).toEqual({
    ...defaults,
    updated_at: null,
  });
});

test.each(dialects)('an update changes the fields sent alone, also within theme and fields: %s', async (dialect) => {
  const me = await createProvider();
  const slug = newSlug();
  const first = await put(me, { enabled: true, slug, theme: { accent: '#AA0000' }, fields: { phone: 'off' } }, dialect);
  const expected = {
    ...{ ...defaults, enabled: true, slug, updated_at: dateTime },
    url: `${settings.publicUrl}/catalog/${slug}`,
    theme: { accent: '#AA0000', background: null, font: 'sans' },
    fields: { ...defaults.fields, phone: 'off' },
  };
  expect([first.status, first.json()]).toEqual([200, expected]);
  expect(first.headers['x-ignored-parameters']).toBeUndefined();
  await put(
    me,
    { theme: { font: 'mono' }, fields: { comment: 'required' }, terms_url: 'https://a.example/t' },
    dialect,
  );
  expect(await read(me)).toEqual({
    ...{ ...expected, terms_url: 'https://a.example/t' },
    theme: { ...expected.theme, font: 'mono' },
    fields: { ...expected.fields, comment: 'required' },
  });
  await put(me, { theme: { accent: null }, fields: null, terms_url: null, slug: null, index: null }, dialect);
  expect(await read(me)).toEqual({ ...expected, theme: { ...defaults.theme, font: 'mono' }, fields: defaults.fields });
});

test.each([
  [{ slug: 'a' }, 'slug'],
  [{ slug: 'a_b' }, 'slug'],
  [{ slug: '-ab' }, 'slug'],
  [{ slug: 'a'.repeat(64) }, 'slug'],
  [{ theme: { accent: 'red' } }, 'theme'],
  [{ theme: { background: '#fff' } }, 'theme'],
  [{ theme: { font: 'comic' } }, 'theme'],
  [{ fields: { phone: 'maybe' } }, 'fields'],
  [{ terms_url: 'javascript:alert(1)' }, 'terms_url'],
  [{ withdrawal_text: 'x'.repeat(2_001) }, 'withdrawal_text'],
])('%j is refused as %s', async (fields, name) => {
  const me = await createProvider();
  const response = await put(me, { enabled: true, ...fields });
  expect([response.status, response.json<Fields>()['error']]).toEqual([400, `Field(s) not valid: ${name}`]);
  expect(await read(me)).toEqual({ ...defaults, updated_at: null });
});

test('a catalog that is switched on has the slug of its school, with the id where another has that', async () => {
  const title = `Harbour School ${process.pid}`;
  const [first, second] = [await createProvider(title), await createProvider(title)];
  expect((await put(first, { enabled: true })).json()).toMatchObject({ slug: `harbour-school-${process.pid}` });
  const slug = `harbour-school-${process.pid}-${second.id}`;
  expect((await put(second, { enabled: true })).json()).toMatchObject({ enabled: true, slug });
});

test('a slug is of one school, without regard to case, and stays reserved once it was', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [slug, next] = [newSlug(), newSlug()];
  await put(me, { slug });
  const taken = { status: 400, error: 'Another school has this slug' };
  const tryTaken = async () => {
    const response = await put(other, { slug: slug.toUpperCase() });
    return { status: response.status, error: response.json<Fields>()['error'] };
  };
  expect(await tryTaken()).toEqual(taken);
  await put(me, { slug: next });
  expect(await tryTaken()).toEqual(taken);
  expect((await put(me, { slug: slug.toLowerCase() })).json()).toMatchObject({ slug: slug.toLowerCase() });
});

test('two schools that ask for one slug at the same time do not both get it', async () => {
  const both = [await createProvider(), await createProvider()];
  const slug = newSlug();
  const statuses = await Promise.all(both.map(async (one) => (await put(one, { slug })).status));
  expect(statuses.sort()).toEqual([200, 400]);
});

test('a school keeps its 20 newest slugs', async () => {
  const me = await createProvider();
  const slugs = Array.from({ length: 22 }, newSlug);
  for (const slug of slugs) await put(me, { slug });
  const stored = await database.pool.query<{ slug: string }>(
    'select name as slug from catalog_names where provider_id = $1 order by created_at',
    [me.id],
  );
  expect(stored.rows.map(({ slug }) => slug)).toEqual(slugs.slice(2).map((slug) => slug.toLowerCase()));
});

test('the host name is set by the operator alone, and is of one school', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const host = `courses-${me.id}.example.com`;
  const ignored = await put(me, { host, index: false });
  expect([ignored.headers['x-ignored-parameters'], await read(me)]).toMatchObject(['host', { host: null }]);
  const changed = await updateCatalogSettings(await me.ctx(), { enabled: true, host });
  expect(changed).toMatchObject({ host, url: `http://${host}` });
  await expect(updateCatalogSettings(await other.ctx(), { host })).rejects.toThrow('Another school has this host name');
  expect(await updateCatalogSettings(await me.ctx(), { host: null })).toMatchObject({ host: null });
  expect(await updateCatalogSettings(await other.ctx(), { host })).toMatchObject({ host });
});

test('without CATALOG_URL, catalog_url of a public course is its page while the catalog is on', async () => {
  const me = await own.createProvider();
  const [course, hidden] = [await me.course({ title: 'Knots & ropes' }), await me.course({ type: 'internal' })];
  const urls = async (id: number) => {
    const item = (await me.get(`/v2/courses/${id}`)).json<Fields>();
    const [listed] = (await me.get(`/v2/courses`)).json<Fields[]>().filter((one) => one['id'] === id);
    expect(listed?.['catalog_url']).toEqual(item['catalog_url']);
    return item['catalog_url'];
  };
  expect(await urls(course)).toBeNull();
  const slug = newSlug();
  await put(me, { enabled: true, slug });
  const page = `${settings.publicUrl}/catalog/${slug}/courses/knots-and-ropes-${course}`;
  expect([await urls(course), await urls(hidden)]).toEqual([page, null]);
  await put(me, { enabled: false });
  expect(await urls(course)).toBeNull();
});

test('an imported catalog that is on gets a slug', async () => {
  const me = await createProvider();
  const line = { kind: 'catalog_settings', ref: 'catalog', enabled: true };
  expect(await importObjects(me, [line])).toMatchObject({ written: 1, reasons: [] });
  expect(await read(me)).toMatchObject({ enabled: true, slug: expect.stringMatching(/^school-/) as string });
});

test('with CATALOG_URL, catalog_url is in that catalog', async () => {
  const me = await createProvider();
  await put(me, { enabled: true, slug: newSlug() });
  const course = await me.course({ title: `Ropes ${me.id}` });
  const { catalog_url } = (await me.get(`/v2/courses/${course}`)).json<Fields>();
  expect(catalog_url).toBe(`${settings.catalogUrl}/ropes-${me.id}`);
});
