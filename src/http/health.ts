import type { FastifyInstance } from 'fastify';
import { Type } from '@sinclair/typebox';
import type { Database } from '../database/client.ts';
import { clockWarning, summarizeClocksAhead } from '../database/clock.ts';
import { isDiskFull } from '../database/counters.ts';
import { toLoggableError } from '../core/database-errors.ts';
import { isMigrated } from '../database/migrate.ts';
import { findMigrationDifferences } from '../database/migration-history.ts';
import { unavailableHints, unavailableReason } from '../database/describe-error.ts';
import { closeByAddress, limitByAddress, type CountRequest } from './auth/address-limit.ts';
import { methodNotAllowed } from './errors/method-not-allowed.ts';
import { serveOpenapi } from './openapi/document.ts';
import { responses } from './responses.ts';
import { NamedObject } from '../core/schema/types.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the routes of health checks. */
    isProbe?: true;
  }
}

const Health = NamedObject('Health', {
  status: Type.String(),
  reason: Type.Optional(Type.String()),
  writes: Type.Optional(Type.Literal('disk_full')),
  warnings: Type.Optional(Type.Array(Type.String())),
});

/** `now` is set when a stop begins; the server still responds, but /ready fails. */
export type ShutdownState = { now: boolean };

type HealthOptions = {
  database: Database;
  timezone: string;
  isShuttingDown: ShutdownState;
  countRequest: CountRequest;
};

/** Serves /live (liveness), /ready (readiness) and /openapi.json. */
export function healthRoutes(
  app: FastifyInstance,
  { database, timezone, isShuttingDown, countRequest }: HealthOptions,
) {
  const [close, limit] = [closeByAddress(countRequest), limitByAddress(countRequest)];
  app.addHook('preParsing', (request, reply) =>
    request.routeOptions.config.isProbe ? close(request, reply) : limit(request),
  );
  const findReason = joinInFlight(() => findUnreadyReason(database, timezone));
  const shareWarnings = joinInFlight(() => getWarnings(database));
  const addMethodNotAllowed = methodNotAllowed(app);
  const documented = { tags: ['Health checks'], security: [] };

  app.get(
    '/live',
    {
      schema: {
        operationId: 'getLiveness',
        summary: 'Check liveness',
        description: 'Does not use the database.',
        ...documented,
        response: responses.ok(Health),
      },
      config: { isProbe: true },
    },
    async () => ({ status: 'live' }),
  );

  app.get(
    '/ready',
    {
      schema: {
        operationId: 'getReadiness',
        summary: 'Check readiness',
        description:
          'Checks the database and its migrations, and fails during a shutdown. `writes` is `disk_full` for a minute after a write failed since the disk of the database was full; reads continue.',
        ...documented,
        response: {
          ...responses.ok(Health),
          503: { ...Health, description: 'Not ready; the reason is in `reason`' },
        },
      },
      config: { isProbe: true },
    },
    async (request, reply) => {
      const reason = isShuttingDown.now
        ? 'draining'
        : await findReason().catch((error: unknown) => {
            const hint = unavailableHints[unavailableReason({ cause: error })];
            request.log.warn({ err: toLoggableError(error), hint }, 'not ready');
            return toUnreadyReason(error);
          });
      if (reason === undefined)
        return {
          status: 'ready',
          ...(isDiskFull(database.counters) && { writes: 'disk_full' as const }),
          ...(await shareWarnings()),
        };
      return reply.code(503).header('retry-after', 1).send({ status: 'not ready', reason });
    },
  );

  app.get('/openapi.json', { schema: { hide: true } }, serveOpenapi(app));
  addMethodNotAllowed();
}

function toUnreadyReason(error: unknown) {
  const reason = unavailableReason({ cause: error });
  return reason === 'too_many_connections' ? reason : 'the database cannot be reached';
}

async function findUnreadyReason(database: Database, timezone: string) {
  const {
    rows: [session],
  } = await database.pool.query<{ zone: string; standby: boolean; readonly: string }>(
    "select current_setting('timezone') as zone, pg_is_in_recovery() as standby, current_setting('transaction_read_only') as readonly",
  );
  if (session!.zone.toLowerCase() !== timezone.toLowerCase())
    return 'the database session is not in the service time zone';
  if (session!.standby) return 'the database is a read-only standby';
  if (session!.readonly === 'on') return 'the database is read-only';
  if (await isMigrated(database.pool)) return undefined;
  const [difference = 'the database is not migrated'] = await findMigrationDifferences(database.pool);
  return difference;
}

/** Callers share the check in flight, so that many concurrent requests use one connection. */
function joinInFlight<T>(check: () => Promise<T>) {
  let inFlight: Promise<T> | undefined;
  return () => (inFlight ??= check().finally(() => (inFlight = undefined)));
}

/** Warnings do not make the server unready; a failed check is ignored. */
async function getWarnings({ pool }: Database) {
  const ahead = await summarizeClocksAhead(pool).catch(() => undefined);
  const warning = ahead && clockWarning(ahead);
  return warning === undefined ? {} : { warnings: [warning] };
}
