import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../core/context.ts';

/** The cookie that holds a session's secret; it lasts until the browser is closed, the session ends by itself. */
export function sessionCookie({ publicUrl }: Settings) {
  const secure = publicUrl.startsWith('https:');
  // With this prefix a browser takes it from this very host alone, and by https.
  const name = secure ? '__Host-session' : 'session';
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };
  return {
    read: ({ cookies }: FastifyRequest) => cookies[name],
    set: (reply: FastifyReply, secret: string) => reply.setCookie(name, secret, options),
    clear: (reply: FastifyReply) => reply.clearCookie(name, options),
  };
}
/** Says once that the password was changed, to the page that the change leads to and to no other. */
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
