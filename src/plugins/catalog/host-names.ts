import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { startPeriodic } from '../../database/periodic.ts';
import type { Queryable } from '../../database/statements.ts';
import { execute } from '../../database/statements.ts';

/** Constraint of the routes of catalogs that have a host name of their own. */
export const ownHost = { catalogHost: 'own' };

const listHosts = {
  name: 'list_catalog_hosts',
  text: `select name from catalog_names where name like '%.%' order by name limit 100000`,
};

/** The name in a `Host` header, without its port. */
export const toHostName = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();

/** Lets routes with the constraint `ownHost` answer requests to the host names of catalogs, read anew every 10 seconds. */
export function addHostConstraint(app: FastifyInstance, on: Queryable) {
  let hosts = new Set<string>();
  app.addConstraintStrategy({
    name: 'catalogHost',
    storage() {
      const handlers = new Map<unknown, unknown>();
      return {
        get: (key) => (handlers.get(key) ?? null) as never,
        set: (key, handler) => void handlers.set(key, handler),
      };
    },
    deriveConstraint: (request: IncomingMessage) =>
      hosts.size > 0 && hosts.has(toHostName(request)) ? 'own' : undefined,
  });
  const refresh = async () => {
    const found = await execute<{ name: string }>(on, listHosts, []);
    hosts = new Set(found.map(({ name }) => name));
  };
  let stop: (() => void) | undefined;
  app.addHook('onReady', () => {
    stop = startPeriodic({ name: 'The look-up of host names', intervalMs: 10_000, run: refresh }, app.log);
  });
  app.addHook('onClose', () => stop?.());
}
