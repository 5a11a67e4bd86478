import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { startPeriodic, warnOfFailure } from '../../database/periodic.ts';
import type { Queryable } from '../../database/statements.ts';
import { execute } from '../../database/statements.ts';

/** Constraint of the routes of catalogs that have a host name of their own. */
export const ownHost = { catalogHost: 'own' };

const listHosts = {
  name: 'list_catalog_hosts',
  text: `select name from catalog_names where name like '%.%' order by name limit 100000`,
};

/** The name in a `Host` header, without its port, and the dot that may end a name. */
export const toHostName = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  (headers.host ?? '').replace(/\.?(?::\d+)?$/, '').toLowerCase();

/** Lets routes with the constraint `ownHost` answer requests to the host names of catalogs, read before the first request and then every 10 seconds. */
export function addHostConstraint(app: FastifyInstance, on: Queryable) {
  let hosts = new Set<string>();
  const isOwnHost = (request: IncomingMessage) => hosts.size > 0 && hosts.has(toHostName(request));
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
  const refresh = async () => {
    const found = await execute<{ name: string }>(on, listHosts, []);
    hosts = new Set(found.map(({ name }) => name));
  };
  const job = { name: 'The look-up of host names', intervalMs: 10_000, isDelayed: true, run: refresh };
  let stop: (() => void) | undefined;
  app.addHook('onReady', async () => {
    await refresh().catch((error: unknown) => warnOfFailure(app.log, job.name, error));
    stop = startPeriodic(job, app.log);
  });
  app.addHook('onClose', () => stop?.());
}
