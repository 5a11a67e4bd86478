import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { KeyProfile } from '../../lib/key-profiles.ts';
import { Problem } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Profiles of the keys that may call the route; a full key may call every route. */
    profiles?: readonly KeyProfile[];
    /** Query parameters and includes of the route that a publishable key may send. */
    publicQuery?: PublicQuery;
  }
}

/** All other parameters and includes are refused. */
export type PublicQuery = { parameters: readonly string[]; includes?: readonly string[] };

/** Includes that show customers; of people, booking keys read the instructors of the catalog alone. */
const hiddenFromBooking = ['course.customer'];

/** Refuses calls, query parameters and includes that the profile of the key does not allow, with 403. */
export function checkProfiles(app: FastifyInstance) {
  app.addHook('preParsing', async (request) => {
    const { is404, routeOptions } = request;
    if (is404 || routeOptions.config.isMethodNotAllowed || isAllowed(request)) return;
    throw new Problem('forbidden', `A key with the profile ${profileOf(request)} may not do this`);
  });

  // Before coercion, which adds the default values.
  app.addHook('preValidation', async (request) => {
    if (profileOf(request) !== 'publishable') return;
    const { config, schema } = request.routeOptions;
    const { parameters = [], includes = [] } = schema?.publicQuery ?? {};
    const allowed = new Set([...parameters, ...(includes.length > 0 ? ['include'] : [])]);
    const known = Object.keys(request.query as object).filter((name) => config.queryNames?.has(name));
    const refused = known.filter((name) => !allowed.has(name));
    if (refused.length > 0)
      throw new Problem('forbidden', `A publishable key may not use these parameters: ${refused.join(', ')}`);
  });

  app.addHook('preHandler', async (request) => {
    if (!request.routeOptions.config.queryNames?.has('include')) return;
    const { include = [] } = request.query as { include?: string[] };
    const refused = include.filter((name) => !mayInclude(request, name));
    if (refused.length === 0) return;
    throw new Problem(
      'forbidden',
      `A key with the profile ${profileOf(request)} may not include ${refused.join(', ')}`,
    );
  });
}

/** A request without a key is answered by 404 or 405. */
const profileOf = ({ ctx }: Partial<FastifyRequest>) => ctx?.key?.profile ?? 'full';

function isAllowed(request: FastifyRequest) {
  const profile = profileOf(request);
  return profile === 'full' || (request.routeOptions.schema?.profiles ?? []).includes(profile);
}

function mayInclude(request: FastifyRequest, name: string) {
  const profile = profileOf(request);
  if (profile === 'booking') return !hiddenFromBooking.includes(name);
  return profile !== 'publishable' || (request.routeOptions.schema?.publicQuery?.includes ?? []).includes(name);
}
