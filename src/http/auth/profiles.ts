import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { KeyProfile } from '../../core/api-key.ts';
import { Problem } from '../../core/errors.ts';
import { isPrivate } from '../../core/schema/types.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Profiles of the keys that may call the route; a full key may call every route. */
    profiles?: readonly KeyProfile[];
    /** Query parameters and includes of the route that a publishable key may send. */
    publicQuery?: PublicQuery;
  }
}

/** All other parameters and includes are refused. */
type PublicQuery = { parameters: readonly string[]; includes?: readonly string[] };

type Node = TSchema & { items?: Node; properties?: Record<string, Node> };

/** The members of an object, or of the items of a list or an envelope. */
const getMembers = ({ items, properties }: Node): Record<string, Node> => ({
  ...(items && getMembers(items)),
  ...(properties?.['pagination'] && properties['items'] && getMembers(properties['items'])),
  ...properties,
});

/** True for an include of people who are not public: of people, booking keys read the instructors of the catalog alone. */
function showsPersonal(schema: Node, [name = '', ...below]: string[]): boolean {
  const member = getMembers(schema)[name];
  return member !== undefined && (isPrivate(member) || showsPersonal(member, below));
}

/** Refuses calls, query parameters and includes that the profile of the key does not allow, with 403. */
export function checkProfiles(app: FastifyInstance) {
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const profile = getProfile(request);
    if (profile !== 'full' && !isAllowed(request, profile))
      throw new Problem('forbidden', `A key with the profile ${profile} may not do this`);
    done();
  });

  // Before coercion, which adds the default values.
  app.addHook('preValidation', (request, _reply, done) => {
    if (getProfile(request) === 'publishable') checkPublicQuery(request);
    done();
  });

  app.addHook('preHandler', (request, _reply, done) => {
    const profile = getProfile(request);
    if (profile === 'booking' || profile === 'publishable') checkIncludes(request, profile);
    done();
  });
}

function isAllowed({ is404, routeOptions: { config, schema } }: FastifyRequest, profile: KeyProfile) {
  return is404 || config.isMethodNotAllowed || (schema?.profiles ?? []).includes(profile);
}

function checkPublicQuery({ query, routeOptions: { config, schema } }: FastifyRequest) {
  const { parameters = [], includes = [] } = schema?.publicQuery ?? {};
  const allowed = new Set([...parameters, ...(includes.length > 0 ? ['include'] : [])]);
  const known = Object.keys(query as object).filter((name) => config.queryNames?.has(name));
  const refused = known.filter((name) => !allowed.has(name));
  if (refused.length > 0)
    throw new Problem('forbidden', `A publishable key may not use these parameters: ${refused.join(', ')}`);
}

function checkIncludes(
  { query, routeOptions: { config, schema } }: FastifyRequest,
  profile: 'booking' | 'publishable',
) {
  if (!config.queryNames?.has('include')) return;
  const { include = [] } = query as { include?: string[] };
  const publicIncludes = schema?.publicQuery?.includes ?? [];
  const response = schema?.response as { 200: Node };
  const mayInclude = (name: string) =>
    profile === 'booking' ? !showsPersonal(response[200], name.split('.')) : publicIncludes.includes(name);
  const refused = include.filter((name) => !mayInclude(name));
  if (refused.length > 0)
    throw new Problem('forbidden', `A key with the profile ${profile} may not include ${refused.join(', ')}`);
}

/** A request without a key is answered by 404 or 405. */
const getProfile = ({ ctx }: Partial<FastifyRequest>) => ctx?.key?.profile ?? 'full';
