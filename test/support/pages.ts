import { openSession } from '../../src/resources/auth/session-service.ts';
import type { Purpose } from '../../src/resources/auth/token-schema.ts';
import { createToken } from '../../src/resources/auth/token-service.ts';
import { send, type Answer, type Provider, type World } from './world.ts';

type App = World['app'];
type Headers = Record<string, string>;

/** A token of a course user, as a sign-on or a mail makes it. */
export const tokenFor = async (me: Provider, purpose: Purpose, userId: number) =>
  createToken((await me.ctx()).authStore, purpose, { providerId: me.id, userId, adminUserId: null });

export const adminTokenFor = async (me: Provider, adminUserId: number) =>
  createToken((await me.ctx()).authStore, 'password', { providerId: me.id, userId: null, adminUserId });

/** A browser's answers without a browser: what a person who is signed in is sent, and sends. */
export async function signedIn(app: App, me: Provider, userId: number, headers: Headers = {}) {
  return visitor(app, { cookie: await sessionOf(me, userId), ...headers });
}

/** The cookie of somebody who is signed in. */
export const sessionOf = async (me: Provider, userId: number) =>
  `session=${await openSession((await me.ctx()).authStore, { providerId: me.id, userId })}`;

export const visitor = (app: App, headers: Headers = {}) => ({
  get: (url: string, more: Headers = {}) => send(app, { method: 'GET', url, headers: { ...headers, ...more } }),
  request: (method: 'HEAD' | 'PUT', url: string) => send(app, { method, url, headers }),
  post: (url: string, fields: Record<string, string> = {}, more: Headers = {}) =>
    send(app, {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers, ...more },
      payload: new URLSearchParams(fields).toString(),
    }),
});

/** What a browser would send back: the session, which comes first. */
export const cookieOf = (answer: Answer) => cookiesOf(answer).split('; ')[0]!;

/** All that it would send back. */
export const cookiesOf = ({ headers }: Answer) =>
  [headers['set-cookie']]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');

/** Moves what is stored, not the clock. */
export const age = (world: World, table: 'tokens' | 'sessions', userId: number, interval: string) =>
  world.database.pool.query(
    `update ${table} set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval
      ${table === 'sessions' ? ', used_at = used_at - $2::interval' : ''} where user_id = $1`,
    [userId, interval],
  );
