import { openSession } from '../../src/domains/school/auth/session-service.ts';
import type { Purpose, TokenOwner } from '../../src/domains/school/auth/schema.ts';
import { createMailToken } from '../../src/domains/school/auth/token-service.ts';
import { createLink } from '../../src/domains/messages/links/service.ts';
import type { Queryable } from '../../src/database/statements.ts';
import { send, type TestResponse, type Provider, type TestApp } from './test-app.ts';

type App = TestApp['app'];
type Headers = Record<string, string>;

/** A token of no mail. */
export const createToken = async (on: Queryable, purpose: Purpose, owner: TokenOwner) =>
  (await createMailToken(on, purpose, owner, null))!;

/** A sign-in token of a course user. */
export const createUserToken = async (me: Provider, purpose: Purpose, userId: number) =>
  createToken((await me.ctx()).unlockedStore, purpose, { providerId: me.id, userId, adminUserId: null });

export const createAdminToken = async (me: Provider, adminUserId: number) =>
  createToken((await me.ctx()).unlockedStore, 'password', { providerId: me.id, userId: null, adminUserId });

/** A link to a booking, or to the offer of one of its participants. */
export const createLinkToken = async (me: Provider, to: { bookingId: number; participantId?: number }) =>
  createLink((await me.ctx()).unlockedStore, { providerId: me.id, participantId: null, ...to });

/** A client with the session cookie of a signed-in user. */
export async function signedInVisitor(app: App, me: Provider, userId: number, headers: Headers = {}) {
  return visitor(app, { cookie: await createSessionCookie(me, userId), ...headers });
}

/** Session cookie of a signed-in user. */
export const createSessionCookie = async (me: Provider, userId: number) =>
  `session=${await openSession((await me.ctx()).unlockedStore, { providerId: me.id, userId })}`;

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

/** The session cookie, which is the first one set. */
export const sessionCookie = (response: TestResponse) => responseCookies(response).split('; ')[0]!;

/** All cookies of a response, as a request header. */
export const responseCookies = ({ headers }: TestResponse) =>
  [headers['set-cookie']]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');

/** Shifts the stored times instead of the clock. */
export const backdate = (testApp: TestApp, table: 'tokens' | 'sessions', userId: number, interval: string) =>
  testApp.database.pool.query(
    `update ${table} set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval
      ${table === 'sessions' ? ', used_at = used_at - $2::interval' : ''} where user_id = $1`,
    [userId, interval],
  );
