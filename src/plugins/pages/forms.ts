import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../core/settings.ts';
import { Problem } from '../../core/errors.ts';
import { findPasswordFault } from '../../resources/auth/password-schema.ts';
import type { Texts } from './texts.ts';
import type { FieldErrors } from './views/passwords.tsx';

/**
 * CSRF protection. Our forms send `Origin: null` (referrer policy), so Sec-Fetch-Site decides. On plain http browsers omit
 * it, and only the cookie's SameSite protects. Clients other than browsers send neither header and are accepted.
 */
export const rejectCrossSite =
  ({ publicUrl }: Settings) =>
  async ({ method, headers }: FastifyRequest) => {
    if (method === 'GET' || method === 'HEAD') return;
    const { origin = 'null', 'sec-fetch-site': site = 'same-origin' } = headers;
    const isOwn = origin === 'null' || origin === new URL(publicUrl).origin;
    if (!isOwn || (site !== 'same-origin' && site !== 'none')) throw new Problem('forbidden', 'Sent from another site');
  };

/** A form that was sent over plain http may contain a password, so it is refused. */
export const redirectToHttps =
  ({ publicUrl }: Settings) =>
  async ({ protocol, method, url }: FastifyRequest, reply: FastifyReply) => {
    if (protocol === 'https') return;
    if (method !== 'GET' && method !== 'HEAD') throw new Problem('forbidden', 'Sent over plain http');
    return reply.redirect(`${publicUrl}${url}`, 308);
  };

/** A link that signs in works for a person who follows it, not for an image, a frame or a prefetch of another page. */
export async function rejectSubresource({ headers }: FastifyRequest) {
  const isPrefetch = String(headers['sec-purpose'] ?? '').startsWith('prefetch');
  if ((headers['sec-fetch-dest'] ?? 'document') !== 'document' || isPrefetch)
    throw new Problem('forbidden', 'Not a navigation to the page');
}

export function readField({ body }: FastifyRequest, name: string): string | undefined {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** The id in a path; throws not_found for anything else. */
export function toId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw Problem.notFound('Participant');
  return Number(text);
}

type NewPassword = { password: string; errors: FieldErrors };

/** The form's new password and its errors; `repeated` is optional, for scripts. */
export function readNewPassword(request: FastifyRequest, texts: Texts, names: readonly unknown[]): NewPassword {
  const password = readField(request, 'password') ?? '';
  const repeated = readField(request, 'repeated') ?? password;
  const fault = findPasswordFault(password, names);
  if (fault !== undefined) return { password, errors: { password: texts.passwordFaults[fault] } };
  return { password, errors: repeated === password ? {} : { repeated: texts.notRepeated } };
}
