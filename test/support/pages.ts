import { openSession } from '../../src/resources/auth/session-service.ts';
import type { Purpose } from '../../src/resources/auth/token-schema.ts';
import { createToken } from '../../src/resources/auth/token-service.ts';
import { send, type TestResponse, type Provider, type TestApp } from './test-app.ts';

type App = TestApp['app'];
type Headers = Record<string, string>;

/** A token of a course user, as a sign-on or a mail makes it. */
export const createUserToken = async (me: Provider, purpose: Purpose, userId: number) =>
  createToken((await me.ctx()).authStore, purpose, { providerId: me.id, userId, adminUserId: null });

export const createAdminToken = async (me: Provider, adminUserId: number) =>
  createToken((await me.ctx()).authStore, 'password', { providerId: me.id, userId: null, adminUserId });

/** A browser's answers without a browser: what a person who is signed in is sent, and sends. */
export async function signedInVisitor(app: App, me: Provider, userId: number, headers: Headers = {}) {
  return visitor(app, { cookie: await createSessionCookie(me, userId), ...headers });
}

/** The cookie of somebody who is signed in. */
export const createSessionCookie = async (me: Provider, userId: number) =>
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
export const sessionCookie = (response: TestResponse) => responseCookies(response).split('; ')[0]!;

/** All that it would send back. */
export const responseCookies = ({ headers }: TestResponse) =>
  [headers['set-cookie']]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');

/** Moves what is stored, not the clock. */
export const backdate = (testApp: TestApp, table: 'tokens' | 'sessions', userId: number, interval: string) =>
  testApp.database.pool.query(
    `update ${table} set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval
      ${table === 'sessions' ? ', used_at = used_at - $2::interval' : ''} where user_id = $1`,
    [userId, interval],
  );
