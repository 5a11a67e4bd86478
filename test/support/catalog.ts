import type { InjectOptions } from 'fastify';
import { visitor } from './pages.ts';
import { send, type Provider, type TestApp } from './test-app.ts';

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
