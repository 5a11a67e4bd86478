import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../../core/settings.ts';

/** A cookie until the browser is closed. Browsers accept the prefix only by https and from this very host. */
function hostCookie({ publicUrl }: Settings, name: string) {
  const secure = publicUrl.startsWith('https:');
  const fullName = secure ? `__Host-${name}` : name;
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };
  return {
    read: ({ cookies }: FastifyRequest) => cookies[fullName],
    set: (reply: FastifyReply, value: string) => reply.setCookie(fullName, value, options),
    clear: (reply: FastifyReply) => reply.clearCookie(fullName, options),
  };
}

/** Contains the session's secret; the session expires on its own. */
export const sessionCookie = (settings: Settings) => hostCookie(settings, 'session');
/** A flash cookie for the page that confirms a password change. */
export const changeCookie = (settings: Settings) => hostCookie(settings, 'password-changed');

export type Cookie = ReturnType<typeof hostCookie>;
