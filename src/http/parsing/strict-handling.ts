import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { addVary } from '../vary.ts';
import { maxNameLength } from './known-fields.ts';

/** The time of parsing grows with the square of the length. */
const maxParsed = 1_000;

/** True with `Prefer: handling=strict` (RFC 7240): what would be ignored is refused. The first preference of a name counts. */
export function prefersStrict({ headers }: Pick<FastifyRequest, 'headers'>) {
  if (headers.prefer === undefined) return false;
  // A quoted value may contain separators.
  const preferences = String(headers.prefer)
    .slice(0, maxParsed)
    .replace(/"((?:[^"\\]|\\.)*)"/g, (_, value: string) => (/^\w+$/.test(value) ? value : ''));
  const pairs = preferences.split(',').map((one) => one.split(';', 1)[0]!.toLowerCase().split('='));
  return pairs.find(([name]) => name!.trim() === 'handling')?.[1]?.trim() === 'strict';
}

/** Tells the client that its preference was applied. */
export function acknowledgeStrict(reply: FastifyReply) {
  addVary(reply, 'Prefer').header('preference-applied', 'handling=strict');
  const exposed = reply.getHeader('access-control-expose-headers');
  if (exposed !== undefined) reply.header('access-control-expose-headers', `${String(exposed)}, Preference-Applied`);
}

const maxNamed = 10;

/** Throws for query parameters and fields that the operation does not take. */
export function assertKnown(unknown: Iterable<string>) {
  const names = [...new Set(unknown)].slice(0, maxNamed).map(toShown);
  if (names.length === 0) return;
  const message = `Field(s) not known: ${names.join(',')}`;
  throw new Problem('invalid', message, { notValid: names, errors: [{ code: 'field_unknown', message }] });
}

/** As names in `X-Ignored-Parameters` are, which leaves out others. */
const toShown = (name: string) => name.slice(0, maxNameLength).replace(/[^A-Za-z0-9_.[\]-]/g, '?');
