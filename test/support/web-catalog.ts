import type { InjectOptions } from 'fastify';
import { send, type Provider, type TestApp } from './test-app.ts';

let opened = 0;

/** Switches a school's catalog on; `get` reads a path below it without a key. */
export async function openWebCatalog(
  { app }: Pick<TestApp, 'app'>,
  me: Provider,
  fields: Record<string, unknown> = {},
) {
  const slug = `school-${process.pid}-${(opened += 1)}`;
  const { status, text } = await me.put('/v2/catalog-settings', { enabled: true, slug, ...fields });
  if (status !== 200) throw new Error(`no catalog: ${text}`);
  const base = `/catalog/${slug}`;
  const read =
    (method: InjectOptions['method']) =>
    (path: string, headers: Record<string, string> = {}) =>
      send(app, { method, url: `${base}${path}`, headers });
  return { slug, base, url: `http://localhost:3000${base}`, get: read('GET'), head: read('HEAD'), read };
}

/** A school of which a public date is in nothing that anyone may read, for every reason; `titles` are those of its courses. */
export const isoDay = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
