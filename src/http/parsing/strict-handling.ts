import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { itemAt, Problem } from '../../core/errors.ts';
import { toBoolean } from '../../core/schema/coercion.ts';
import { refusedNames } from '../../core/schema/validator.ts';
import { addVary } from '../accept.ts';
import { maxNameLength, type Unknown } from './known-fields.ts';

type Fields = Record<string, unknown>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Makes an act that cannot be undone refuse unknown names without strict handling, too; all, or those chosen. */
    refusesUnknown?: true | ((name: string, body: Fields) => boolean);
  }
}

const maxNamed = 10;
/** The time of parsing grows with the square of the length. */
const maxParsed = 1_000;

/** True with `Prefer: handling=strict` (RFC 7240): what would be ignored is refused. The first preference of a name counts. */
export function prefersStrict({ headers }: Pick<FastifyRequest, 'headers'>) {
  if (headers.prefer === undefined) return false;
  // A quoted value may contain separators.
  const preferences = String(headers.prefer)
    .slice(0, maxParsed)
    .replace(/"((?:[^"\\]|\\.)*)"/g, (_, value: string) => (/^\w+$/.test(value) ? value : ''));
  const pairs = preferences.split(',').map((one) => itemAt(one.split(';', 1)).toLowerCase().split('='));
  return pairs.find(([name]) => name!.trim() === 'handling')?.[1]?.trim() === 'strict';
}

/** Tells the client that its preference was applied. */
export function acknowledgeStrict(reply: FastifyReply) {
  addVary(reply, 'Prefer').header('preference-applied', 'handling=strict');
  const exposed = reply.getHeader('access-control-expose-headers');
  if (exposed !== undefined) reply.header('access-control-expose-headers', `${String(exposed)}, Preference-Applied`);
}

/** True where the act refuses the name if it is unknown. */
export const refusesName = ({ refusesUnknown }: FastifyContextConfig, name: string, body: unknown) =>
  typeof refusesUnknown === 'function' ? refusesUnknown(name, body as Fields) : refusesUnknown === true;

/** True of a write if the field asks for a trial: if its value is neither empty nor false. */
const isTrial = ({ method, routeOptions: { url = '' } }: FastifyRequest, [name, value]: Unknown) =>
  /(^|\.)dry_run$/.test(name) &&
  !['GET', 'HEAD'].includes(method) &&
  url.startsWith('/v2/') &&
  value !== null &&
  value !== '' &&
  toBoolean(value) !== false;

/** The first ten of the unknown names that are errors, in a form for texts, and of the others those safe in a header. */
export function sortUnknown(request: FastifyRequest, isStrict: boolean, unknown: Iterable<Unknown>) {
  const { routeOptions, body } = request;
  const isRefused = (one: Unknown) =>
    isStrict || isTrial(request, one) || refusesName(routeOptions.config, one[0], body);
  const [refused, ignored] = [new Set<string>(), new Set<string>()];
  for (const one of unknown) {
    const [name] = one;
    if (isRefused(one)) refused.add(name);
    else if (ignored.size < maxNamed && isHeaderSafe(name)) ignored.add(name);
    if (refused.size === maxNamed) break;
  }
  return { refused: [...refused].map(toShown), ignored: [...ignored] };
}

/** Reports names with the other errors of the body, or else of the query. */
export function refuse(request: FastifyRequest, names: string[]) {
  const { body, querystring } = request.routeOptions.schema ?? {};
  const validated = body ? request.body : querystring ? request.query : undefined;
  if (validated === undefined) throw Problem.invalidFields({ unknown: names });
  Object.assign(validated as Fields, { [refusedNames]: names });
}

/** Shows the signs that are safe in a header. */
const toShown = (name: string) => name.slice(0, maxNameLength).replace(/[^A-Za-z0-9_.[\]-]/g, '?');

const isHeaderSafe = (name: string) => name.length <= maxNameLength && /^[A-Za-z0-9_.[\]-]+$/.test(name);
