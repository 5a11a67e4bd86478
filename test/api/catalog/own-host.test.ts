import { expect, test } from 'vitest';
import { createBookableDate } from '../../support/booking.ts';
import { openOwnHost } from '../../support/catalog.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

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
