import type { FastifyInstance } from 'fastify';
import { Type } from '@sinclair/typebox';
import type { Database } from '../database/client.ts';
import { clockWarning, summarizeClocksAhead } from '../database/clock.ts';
import { toLoggableError } from '../database/errors.ts';
import { isMigrated } from '../database/migrate.ts';
import { limitByAddress, type CountRequest } from './auth/address-limit.ts';
import { methodNotAllowed } from './errors/method-not-allowed.ts';
import { serveOpenapi } from './openapi/document.ts';
import { responses } from './responses.ts';
import { NamedObject } from '../schema/types.ts';

const Health = NamedObject('Health', {
  status: Type.String(),
  reason: Type.Optional(Type.String()),
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
  const preParsing = limitByAddress(countRequest);
  const addMethodNotAllowed = methodNotAllowed(app);
  const documented = { tags: ['Operation'], security: [] };

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
    },
    async () => ({ status: 'live' }),
  );

  app.get(
    '/ready',
    {
      schema: {
        operationId: 'getReadiness',
        summary: 'Check readiness',
        description: 'Checks the database and its migrations, and fails during a shutdown.',
        ...documented,
        response: {
          ...responses.ok(Health),
          ...responses.addressLimit,
          503: { ...Health, description: 'Not ready; the reason is in `reason`' },
        },
      },
      preParsing,
    },
    async (request, reply) => {
      const reason = isShuttingDown.now
        ? 'draining'
        : await findUnreadyReason(database, timezone).catch((error: unknown) => {
            request.log.warn({ err: toLoggableError(error) }, 'not ready');
            return 'the database cannot be reached';
          });
      if (reason === undefined) return { status: 'ready', ...(await getWarnings(database)) };
      return reply.code(503).header('retry-after', 1).send({ status: 'not ready', reason });
    },
  );

  app.get('/openapi.json', { schema: { hide: true }, preParsing }, serveOpenapi(app));
  addMethodNotAllowed();
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
  return (await isMigrated(database.pool)) ? undefined : 'the database is not migrated';
}

/** Warnings do not make the server unready; a failed check is ignored. */
async function getWarnings({ pool }: Database) {
  const ahead = await summarizeClocksAhead(pool).catch(() => undefined);
  const warning = ahead && clockWarning(ahead);
  return warning === undefined ? {} : { warnings: [warning] };
}
