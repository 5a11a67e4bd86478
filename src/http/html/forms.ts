import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import type { Settings } from '../../core/settings.ts';

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

export function readField({ body }: FastifyRequest, name: string): string | undefined {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
