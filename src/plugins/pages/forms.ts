import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import type { Settings } from '../../core/settings.ts';

/** The origin of the pages: that of PUBLIC_URL, or of the host name that the request is sent to. */
type OwnOrigin = (request: FastifyRequest) => string;
const toPublicOrigin =
  ({ publicUrl }: Settings): OwnOrigin =>
  () =>
    new URL(publicUrl).origin;

/**
 * CSRF protection. Our forms send `Origin: null` (referrer policy), so Sec-Fetch-Site decides. On plain http browsers omit
 * it, and only the cookie's SameSite protects. Clients other than browsers send neither header and are accepted.
 */
export const rejectCrossSite =
  (settings: Settings, toOwnOrigin = toPublicOrigin(settings)) =>
  async (request: FastifyRequest) => {
    const { method, headers } = request;
    if (method === 'GET' || method === 'HEAD') return;
    const { origin = 'null', 'sec-fetch-site': site = 'same-origin' } = headers;
    const isOwn = origin === 'null' || origin === toOwnOrigin(request);
    if (!isOwn || (site !== 'same-origin' && site !== 'none')) throw new Problem('forbidden', 'Sent from another site');
  };

/** A form that was sent over plain http may contain a password, so it is refused. */
export const redirectToHttps =
  ({ publicUrl }: Settings, toAddress: OwnOrigin = () => publicUrl) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const { protocol, method, url } = request;
    if (protocol === 'https') return;
    if (method !== 'GET' && method !== 'HEAD') throw new Problem('forbidden', 'Sent over plain http');
    return reply.redirect(`${toAddress(request)}${url}`, 308);
  };

export function readField({ body }: FastifyRequest, name: string): string | undefined {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
