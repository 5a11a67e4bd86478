import type { InjectOptions } from 'fastify';
import { onTestFinished } from 'vitest';
import type { AppOptions } from '../../src/app.ts';
import type { ServerContext } from '../../src/interfaces/plugin/define-plugin.ts';
import { pages } from '../../src/plugins/pages/index.ts';
import { updateCatalogSettings } from '../../src/domains/school/catalog-settings/service.ts';
import { visitor } from './pages.ts';
import { config, openTestApp, send, type Provider, type TestApp } from './test-app.ts';

let schools = 0;

/** Switches a school's catalog on; returns the path of its start page. */
export async function switchCatalogOn(me: Provider, fields: Record<string, unknown> = {}) {
  const slug = `catalog-${process.pid}-${(schools += 1)}`;
  const response = await me.put('/v2/catalog-settings', { enabled: true, slug, ...fields });
  if (response.status !== 200) throw new Error(response.text);
  return `/catalog/${slug}`;
}

/** Switches a school's catalog on; `get` reads a path below it without a key. */
export async function openCatalog({ app }: Pick<TestApp, 'app'>, me: Provider, fields: Record<string, unknown> = {}) {
  const base = await switchCatalogOn(me, fields);
  const read =
    (method: InjectOptions['method']) =>
    (path = '', headers: Record<string, string> = {}) =>
      send(app, { method, url: `${base}${path}`, headers });
  const url = `http://localhost:3000${base}`;
  const slug = base.replace('/catalog/', '');
  return { slug, base, url, anyone: visitor(app), get: read('GET'), head: read('HEAD'), read };
}

/** Gives a school's catalog a host name of its own; `read` gets a path there, or at another host. Closed after the test. */
export async function openOwnHost(
  { database }: Pick<TestApp, 'database'>,
  me: Provider,
  { host = `courses-${me.id}.example`, ...options }: { host?: string } & Partial<AppOptions> = {},
) {
  await updateCatalogSettings(await me.ctx(), { enabled: true, host });
  const { app } = await openTestApp(database, {
    ...options,
    parts: [await pages.server!({ config, ...options } as ServerContext)],
  });
  onTestFinished(() => app.close());
  const read = (url: string, at = host) =>
    send(app, { method: 'GET', url, headers: { host: at, 'accept-language': 'en' } });
  return { app, host, read, at: visitor(app, { host }) };
}
