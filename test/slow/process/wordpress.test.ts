import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addDate, addLocation, changeDate } from '../../support/dates.ts';
import { succeeds } from '../../support/programs.ts';
import { sharedTestApp } from '../../support/test-app.ts';
import { openCatalog } from '../../support/catalog.ts';

const hasPhp = succeeds('command -v php');
if (!hasPhp)
  console.warn(
    '\n*** SKIPPED: there is no PHP, so the WordPress plugin was not tried.\n*** Debian: apt-get install php-cli\n',
  );

const testApp = await sharedTestApp();
type View = { html: string; inBlock: string; requests: string[]; scripts: Record<string, string> };

/** A catalog behind a server that can be switched off, and page views of a WordPress site at a second. */
async function openSite() {
  const me = await testApp.createProvider('Fjord school');
  const locationId = await addLocation(me, { city: 'Bergen' });
  const courseId = await me.course({ title: 'Knots', price_value: 1250 });
  const times = { startTimeAt: '09:00', endTimeAt: '15:00', locationId, capacityMax: 3 };
  const dateId = await addDate(me, courseId, { startAt: '2030-06-10', ...times });
  const catalog = await openCatalog(testApp, me);
  const state: { status?: number | undefined; body?: string | undefined } = {};
  const server = createServer((request, response) => {
    void catalog.get(request.url!.slice(catalog.base.length)).then(({ status, text }) => {
      response.writeHead(state.status ?? status).end(state.body ?? text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'course-dates-'));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const src = `http://127.0.0.1:${(server.address() as AddressInfo).port}${catalog.base}`;
  async function view(second: number, attributes: unknown = { src }): Promise<View> {
    const args = [join(folder, 'store.json'), String(second), JSON.stringify(attributes)];
    const { stdout } = await promisify(execFile)('php', ['test/support/wordpress-stubs.php', ...args]);
    return JSON.parse(stdout) as View;
  }
  return { me, catalog, courseId, dateId, src, state, server, view };
}

describe.skipIf(!hasPhp)('the WordPress plugin', () => {
  test('shows the dates by shortcode and block, in the language of the site or the one chosen', async () => {
    const { catalog, dateId, src, view } = await openSite();
    const { html, inBlock, requests, scripts } = await view(0);
    expect(html).toBe(
      `<div class="course-dates"><ul><li><a href="${catalog.url}/dates/knots-${dateId}?lang=no">Knots</a>` +
        `<br>10. June 2030, 09:00–15:00<br>Bergen · NOK 1 250 · 3 plasser igjen</li></ul>` +
        `<p><a href="${src}?lang=no">Alle kurs</a></p></div>`,
    );
    expect([inBlock, requests]).toEqual([html, [`${src}/dates.json?lang=no&limit=5`]]);
    expect(scripts['course-dates-editor']).toContain("registerBlockType('course-dates/list'");
    const english = await view(0, { src: `${src}/`, lang: 'en', tag: 'a & b', limit: '500', unknown: 'x' });
    expect(english.html).toBe(
      `<p class="course-dates-note">There are no coming dates at the moment. <a href="${src}?lang=en">All courses</a></p>`,
    );
    expect(english.requests).toEqual([`${src}/dates.json?lang=en&limit=100&tag=a+%26+b`]);
  });

  test.each(['?lang=no', '#content', '/?lang=no#content', ' ', '/'])(
    'cuts the query and the fragment off the address: %j',
    async (end) => {
      const { src, view } = await openSite();
      const { html, requests } = await view(0, { src: `${src}${end}` });
      expect(requests).toEqual([`${src}/dates.json?lang=no&limit=5`]);
      expect(html).toContain(`<p><a href="${src}?lang=no">Alle kurs</a></p>`);
    },
  );

  test('asks the catalog every five minutes, and keeps the last good copy for 24 hours while it is away', async () => {
    const { me, dateId, state, server, view } = await openSite();
    const first = await view(0);
    expect(first.requests).toHaveLength(1);
    expect(await view(299)).toEqual({ ...first, requests: [] });
    await changeDate(me, dateId, { title: 'Bowlines' });
    const second = await view(300);
    expect([second.requests.length, second.html.includes('>Bowlines<')]).toEqual([1, true]);

    for (const [n, broken] of [{ status: 503 }, { body: '{"items":' }, { body: '{"items":5}' }].entries()) {
      Object.assign(state, { status: undefined, body: undefined, ...broken });
      const away = await view(1_000 + 100 * n);
      expect([away.requests.length, away.html]).toEqual([1, second.html]);
    }
    server.close();
    const away = await view(80_000);
    expect([away.requests.length, away.html]).toEqual([1, second.html]);
    expect((await view(80_059)).requests).toHaveLength(0);
    expect((await view(80_060)).requests).toHaveLength(1);
    expect((await view(300 + 86_399)).html).toBe(second.html);
    const gone = await view(300 + 86_400 + 60);
    expect(gone.html).toContain('<p class="course-dates-note">Kursdatoene kunne ikke lastes. <a href=');
    expect((await view(300 + 86_400 + 61)).requests).toHaveLength(0);
  });

  test('escapes texts, and links to web addresses alone', async () => {
    const { state, view } = await openSite();
    const evil = `"><script>alert('1')</script>`;
    const item = {
      ...{ title: evil, url: 'javascript:alert(1)//', start_at: '2030-06-10', end_at: '2030-06-12' },
      ...{ place: { city: evil }, price: { value: 1, currency: evil }, seats: { status: 'unknown', left: null } },
    };
    state.body = JSON.stringify({ items: [item, 'x', { ...item, url: 'https://a.example/"onclick="x' }] });
    const { html } = await view(0);
    expect(html).not.toMatch(/<script|javascript:|"onclick/);
    expect(html.match(/&lt;script&gt;/g)).toHaveLength(6);
    expect(html).toContain('10. June 2030 – 12. June 2030');
    expect(html).toContain('<a href="">');
  });

  test.each([{}, null, { src: 'javascript:alert(1)' }, { src: 'catalog/school' }])(
    'without the address of a catalog it says so: %j',
    async (attributes) => {
      const { view } = await openSite();
      const { html, requests } = await view(0, attributes);
      expect([html, requests]).toEqual([
        '<p class="course-dates-note">Kursdatoer: src er https-adressen til en kurskatalog.</p>',
        [],
      ]);
    },
  );
});
