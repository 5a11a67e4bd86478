import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../core/context.ts';

/** A browser session cookie with the session's secret; the session expires on its own. */
export function sessionCookie({ publicUrl }: Settings) {
  const secure = publicUrl.startsWith('https:');
  // Browsers accept this prefix only by https and from this very host.
  const name = secure ? '__Host-session' : 'session';
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };
  return {
    read: ({ cookies }: FastifyRequest) => cookies[name],
    set: (reply: FastifyReply, secret: string) => reply.setCookie(name, secret, options),
    clear: (reply: FastifyReply) => reply.clearCookie(name, options),
  };
}
/** A flash cookie for the page that confirms a password change. */
export function changeCookie({ publicUrl }: Settings, path: string) {
  const name = 'password-changed';
  const secure = publicUrl.startsWith('https:');
  const options: CookieSerializeOptions = { path, httpOnly: true, sameSite: 'lax', secure };
  return {
    isSet: ({ cookies }: FastifyRequest) => cookies[name] !== undefined,
    set: (reply: FastifyReply) => reply.setCookie(name, 'yes', options),
    clear: (reply: FastifyReply) => reply.clearCookie(name, options),
  };
}
export type ChangeCookie = ReturnType<typeof changeCookie>;
export type SessionCookie = ReturnType<typeof sessionCookie>;
