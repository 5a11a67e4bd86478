import type { FastifyReply } from 'fastify';
import { truncateHeaderList } from '../core/text.ts';

/** The qualities of the media types that an `Accept` header names. */
function getQualities(accept: string): Map<string, number> {
  const entries = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    // As of RFC 9110, so that none is above 1.
    return [type, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0] as const;
  });
  return new Map(entries);
}

/** True if the header names the media type, and neither JSON nor any type at an equal or higher quality. */
export function prefersMediaType(accept: string | undefined, type: string): boolean {
  const header = truncateHeaderList(accept);
  if (!header?.toLowerCase().includes(type)) return false;
  const qualities = getQualities(header);
  const json = Math.max(qualities.get('application/json') ?? 0, qualities.get('*/*') ?? 0);
  return (qualities.get(type) ?? 0) > json;
}

/** Adds the name of a request header to `Vary`. */
export const addVary = (reply: FastifyReply, name: string) =>
  reply.header('vary', [reply.getHeader('vary') ?? [], name].flat().join(', '));
