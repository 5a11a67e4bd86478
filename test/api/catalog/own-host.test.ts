import { expect, test } from 'vitest';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../../src/core/config.ts';
import { hostCheck } from '../../../src/plugins/pages/catalog/checks.ts';
import { updateCatalogSettings } from '../../../src/domains/school/catalog-settings/service.ts';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { openOwnHost, switchCatalogOn } from '../../support/catalog.ts';
import { createLinkToken } from '../../support/pages.ts';
import { settings, sharedTestApp, type Provider, type TestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

async function listenOn(app: TestApp['app']) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address() as AddressInfo;
}

/** Sends a request with this target as it is. */
const requestTarget = (port: number, target: string, host: string) =>
  new Promise<{ status: number; location: string | undefined; text: string }>((done, fail) => {
    const sent = request({ port, host: '127.0.0.1', path: target, headers: { host } }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => done({ status: response.statusCode!, location: response.headers.location, text }));
    });
    sent.on('error', fail).end();
  });

test('a catalog is at the root of its own host name, and other paths stay those of the server', async () => {
  const me = await testApp.createProvider();
  const { dateId, courseId } = await createBookableDate(me, { course: { title: 'Knots' } });
  const { host, read } = await openOwnHost(testApp, me);
  expect((await read('/')).text).toContain(`href="/dates/knots-${dateId}"`);
  const date = await read(`/dates/knots-${dateId}?lang=en`);
  expect(date.status).toBe(200);
  expect(date.text).toContain(`<link rel="canonical" href="http://${host}/dates/knots-${dateId}"`);
  expect(date.text).toContain(`href="/courses/knots-${courseId}?lang=en"`);
  expect(date.text).toContain('<a href="/?lang=en">');
  expect(date.text).not.toContain('href="?');
  expect(date.text).toContain(`href="/dates/knots-${dateId}?lang=no"`);
  expect((await read(`${/href="([^"]*catalog-[^"]*\.css)"/.exec(date.text)![1]}`)).status).toBe(200);
  expect((await read(`/dates/x-${dateId}`)).headers['location']).toBe(`/dates/knots-${dateId}`);
  expect((await read('/live')).status).toBe(200);
  // Of another host, the root is not the catalog.
  expect((await read('/', 'other.example.com')).text).not.toContain('Knots');
});

test.each(['/nothing', '/%', '/dates/x%-1', '//[', '//evil.example/x', '/%2f%2fevil.example'])(
  '%s at a host name of its own is not found, and its links stay there',
  async (path) => {
    const { read } = await openOwnHost(testApp, await testApp.createProvider());
    const { status, text } = await read(path);
    expect([status, text.includes('<h1>Page not found</h1>')]).toEqual([404, true]);
    expect(text).not.toMatch(/href="\/\//);
  },
);

test('a post to a path that the catalog does not have gets a page too', async () => {
  const { at } = await openOwnHost(testApp, await testApp.createProvider());
  const { status, text } = await at.post('/nothing', {}, { 'accept-language': 'en' });
  expect([status, text.includes('<h1>Page not found</h1>')]).toEqual([404, true]);
});

test('a host name is recognized with the dot that ends it, and with a port', async () => {
  const { host, read } = await openOwnHost(testApp, await testApp.createProvider());
  for (const name of [host.toUpperCase(), `${host}.`, `${host}:3000`, `${host}.:3000`])
    expect([name, (await read('/sitemap.xml', name)).status]).toEqual([name, 200]);
  expect((await read('/sitemap.xml', `${host}..`)).status).toBe(404);
});

test('a host name of a catalog shows that school alone', async () => {
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const { dateId } = await createBookableDate(me, { course: { title: 'Knots' } });
  const { dateId: otherDate } = await createBookableDate(other, { course: { title: 'Ropes' } });
  const [base, otherBase] = [await switchCatalogOn(me), await switchCatalogOn(other)];
  const linkOf = async (school: Provider, date: number) => {
    const { booking_id } = await bookOrFail(school, date);
    return `/my/booking/${await createLinkToken(school, { bookingId: Number(booking_id) })}`;
  };
  const links = { own: await linkOf(me, dateId), others: await linkOf(other, otherDate) };
  const { host, read, at } = await openOwnHost(testApp, me);
  const statuses = async (paths: string[], name = host) =>
    Promise.all(paths.map(async (path) => [path, (await read(path, name)).status]));
  const [style] = /\/catalog\/catalog-[^"]*\.css/.exec((await read('/')).text)!;
  const served = [
    ...['/', `/dates/knots-${dateId}`, `/dates/knots-${dateId}/book`, base, `${base}/dates.json`, links.own],
    ...['/live', '/ready', '/catalog/course-dates.js', style],
  ];
  expect(await statuses(served)).toEqual(served.map((path) => [path, 200]));
  const refused = [
    ...[otherBase, `${otherBase}/dates.json`, `${otherBase}/dates/ropes-${otherDate}/book`, links.others],
    // The part of the title looks like a link of the school.
    `${otherBase}/dates/${`${me.id}_`.padEnd(44 - String(otherDate).length, 'a')}-${otherDate}/calendar.ics`,
    ...['/my', '/my/log-in', '/docs', '/docs/guides', '/openapi.json', '/catalog/nothing'],
  ];
  expect(await statuses(refused)).toEqual(refused.map((path) => [path, 404]));
  expect((await at.post(`${otherBase}/dates/ropes-${otherDate}/book`)).status).toBe(404);
  expect((await read(otherBase)).text).not.toContain('Ropes');
  expect(await statuses(['/v2/courses', '/v2/nothing'])).toEqual([
    ['/v2/courses', 401],
    ['/v2/nothing', 404],
  ]);
  const elsewhere = [otherBase, links.others, '/docs'];
  for (const [path, status] of await statuses(elsewhere, 'localhost')) expect([path, status]).not.toEqual([path, 404]);
});

test('a target with a scheme and a host is read by its path', async () => {
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me, { course: { title: 'Knots' } });
  const { host, app } = await openOwnHost(testApp, me);
  const { port } = await listenOn(app);
  const get = (target: string) => requestTarget(port, target, host);
  const page = await get(`http://evil.example/dates/knots-${dateId}?lang=en`);
  expect([page.status, page.text.includes('evil.example')]).toEqual([200, false]);
  const moved = await get(`http://evil.example/dates/x-${dateId}`);
  expect([moved.status, moved.location]).toEqual([301, `/dates/knots-${dateId}`]);
});

test('the host of PUBLIC_URL is never that of a catalog, and is refused', async () => {
  const me = await testApp.createProvider();
  const publicUrl = `https://booking-${me.id}.example`;
  const host = new URL(publicUrl).hostname;
  const { read } = await openOwnHost(testApp, me, { host, settings: { ...settings, publicUrl, catalogUrl: null } });
  expect((await read('/')).text).not.toContain('<main');
  expect((await read('/docs')).status).not.toBe(404);
  const ctx = { ...(await me.ctx()), settings: { ...settings, publicUrl } };
  const { slug } = (await me.get('/v2/catalog-settings')).json<{ slug: string }>();
  expect((await updateCatalogSettings(ctx, { index: false })).url).toBe(`${publicUrl}/catalog/${slug}`);
  const other = { ...(await (await testApp.createProvider()).ctx()), settings: ctx.settings };
  await expect(updateCatalogSettings(other, { host })).rejects.toThrow('The host name is that of PUBLIC_URL');
  const config = { PUBLIC_URL: publicUrl } as Config;
  const pool = testApp.database.pool;
  expect(await hostCheck.run({ pool, config })).toEqual([
    { level: 'warning', message: expect.stringContaining(`school ${me.id} has the host name of PUBLIC_URL`) as string },
  ]);
  const elsewhere = { PUBLIC_URL: 'https://nowhere.example' } as Config;
  expect(await hostCheck.run({ pool, config: elsewhere })).toMatchObject([{ level: 'ok' }]);
});
