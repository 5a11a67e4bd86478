import { and, eq, exists, like, notLike } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../../core/errors.ts';
import { parseProviderId } from '../../../core/secrets.ts';
import { startPeriodic, warnOfFailure } from '../../../database/periodic.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { catalogNames } from '../../../database/tables/providers.ts';
import { limitByAddress } from '../../../http/auth/address-limit.ts';
import { sendError, type PageErrorFormatter } from '../../../http/errors/error-handler.ts';

/** Constraint of the routes of catalogs that have a host name of their own. */
export const ownHost = { catalogHost: 'own' };

/** The names of the catalogs that have a host name of their own: host names have a dot, slugs have none. */
function listHosts(on: UnlockedStore) {
  const { name, providerId } = catalogNames;
  const host = alias(catalogNames, 'host');
  const hosts = on
    .select({ name: host.name })
    .from(host)
    .where(and(eq(host.providerId, providerId), like(host.name, '%.%')));
  return on
    .select({ name, providerId })
    .from(catalogNames)
    .where(exists(hosts))
    .orderBy(notLike(name, '%.%'), name)
    .limit(100_000);
}

/** The name in a `Host` header, without its port, and the dot that may end a name. */
export const toHostName = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  (headers.host ?? '').replace(/\.?(?::\d+)?$/, '').toLowerCase();

const deprecation = 'The next version does not serve /v2 on the host name of a catalog: call it at PUBLIC_URL';

export type HostNames = ReturnType<typeof createHostNames>;

/** The host names of catalogs, read before the first request and then every 10 seconds. */
export function createHostNames() {
  let schools = new Map<string, number>();

  /** The school of the host that a request is sent to. */
  function findSchool(request: IncomingMessage) {
    if (schools.size === 0) return undefined;
    const host = toHostName(request);
    return host.includes('.') ? schools.get(host) : undefined;
  }

  /** The host of PUBLIC_URL is never a catalog's. */
  function keepCurrent(app: FastifyInstance, on: UnlockedStore, publicUrl: string) {
    const { hostname } = new URL(publicUrl);
    const refresh = async () => {
      const own = (await listHosts(on)).filter(({ name }) => name !== hostname);
      schools = new Map(own.map(({ name, providerId }) => [name, providerId]));
    };
    const job = { name: 'The look-up of host names', intervalMs: 10_000, isDelayed: true, run: refresh };
    let stop: (() => void) | undefined;
    app.addHook('onReady', async () => {
      await refresh().catch((error: unknown) => warnOfFailure(app.log, job.name, error));
      stop = startPeriodic(job, app.log);
    });
    app.addHook('onClose', () => stop?.());
  }

  return { findSchool, keepCurrent, matchesSlug: (slug: string, school: number) => schools.get(slug) === school };
}

/** Answers 404, before the routes, for what is not of the school on the host name of its catalog. */
export function protectHosts(app: FastifyInstance, names: HostNames, format: PageErrorFormatter) {
  const logged = new Set<number>();

  /** True for what all hosts have, and for pages and links of the school. */
  function isServed({ routeOptions: { config, schema, url = '' }, params, log }: FastifyRequest, school: number) {
    if (config.isOnEveryHost || config.isProbe) return true;
    if (schema?.operationId !== undefined || /^\/v2(?:\/|$)/.test(url)) {
      if (!logged.has(school)) log.warn({ provider: school }, deprecation);
      logged.add(school);
      return true;
    }
    const { school: slug, ...others } = params as Record<string, string>;
    if (slug !== undefined) return names.matchesSlug(slug.toLowerCase(), school);
    return Object.values(others).some((secret) => parseProviderId(secret.replace(/\.ics$/, '')) === school);
  }

  app.addHook('onRequest', (request, reply, done) => {
    const school = names.findSchool(request.raw);
    if (school === undefined || isServed(request, school)) {
      done();
      return;
    }
    // Formatted here: pages of other plugins format their errors after hooks of their own.
    limitByAddress(app.countRequest)(request)
      .then(() => Problem.notFound('Page'))
      .catch((error: unknown) => error as Problem)
      .then((problem) => void sendError(problem, request, reply, format), done);
  });
}

/** Lets routes with the constraint `ownHost` answer requests to the host names of catalogs. */
export function addHostConstraint(app: FastifyInstance, { findSchool }: HostNames) {
  const isOwnHost = (request: IncomingMessage) => findSchool(request) !== undefined;
  app.addConstraintStrategy({
    name: 'catalogHost',
    storage() {
      const handlers = new Map<unknown, unknown>();
      return {
        get: (key) => (handlers.get(key) ?? null) as never,
        set: (key, handler) => void handlers.set(key, handler),
      };
    },
    deriveConstraint: (request: IncomingMessage) => (isOwnHost(request) ? 'own' : undefined),
  });
  app.pathRepairs.push(isOwnHost);
}
