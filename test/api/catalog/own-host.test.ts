import { expect, onTestFinished, test } from 'vitest';
import { ownHostPlugin } from '../../../src/plugins/catalog/routes.ts';
import { updateCatalogSettings } from '../../../src/resources/catalog-settings/service.ts';
import { createBookableDate } from '../../support/booking.ts';
import { openTestApp, send, sharedTestApp } from '../../support/test-app.ts';

test('a catalog is at the root of its own host name, and other paths stay those of the server', async () => {
  const { database } = await sharedTestApp();
  // Host names are read when a server starts, and then every 10 seconds.
  const setUp = await openTestApp(database);
  onTestFinished(() => setUp.app.close());
  const me = await setUp.createProvider();
  const host = `courses-${me.id}.example.com`;
  await updateCatalogSettings(await me.ctx(), { enabled: true, host });
  const { dateId, courseId } = await createBookableDate(me, { course: { title: 'Knots' } });

  const parts = [
    { routes: (app: typeof setUp.app, services: object) => void app.register(ownHostPlugin, services as never) },
  ];
  const { app } = await openTestApp(database, { parts: parts });
  onTestFinished(() => app.close());
  await app.ready();
  const get = (url: string, name = host) =>
    send(app, { method: 'GET', url, headers: { host: name, 'accept-language': 'en' } });
  await expect.poll(async () => (await get('/')).text).toContain(`href="/dates/knots-${dateId}"`);
  const date = await get(`/dates/knots-${dateId}?lang=en`);
  expect(date.status).toBe(200);
  expect(date.text).toContain(`<link rel="canonical" href="http://${host}/dates/knots-${dateId}"`);
  expect(date.text).toContain(`href="/courses/knots-${courseId}?lang=en"`);
  expect((await get(`${/href="([^"]*catalog-[^"]*\.css)"/.exec(date.text)![1]}`)).status).toBe(200);
  expect((await get(`/dates/x-${dateId}`)).headers['location']).toBe(`/dates/knots-${dateId}`);
  expect((await get('/nothing')).text).toContain('<h1>Page not found</h1>');
  expect((await get('/live')).status).toBe(200);
  // Of another host, the root is not the catalog.
  expect((await get('/', 'other.example.com')).text).not.toContain('Knots');
});
