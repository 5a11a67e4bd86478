import type { FastifyInstance } from 'fastify';
import type { AppOptions } from '../../app.ts';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../database/client.ts';
import { ListenError } from '../../database/describe-error.ts';
import type { Log } from '../../core/log.ts';
import { startTracing } from './tracing.ts';
import { createProviderLimits } from '../../http/auth/provider-limits.ts';
import { createUsageRecorder } from './usage/recorder.ts';
import { startPeriodic } from '../../database/periodic.ts';
import { builtCommit, packageVersion } from '../../core/version.ts';

const hourMs = 60 * 60_000;
/** `provider limit` promises it. */
const limitsMs = 10_000;

/** The log of requests, metrics and traces as configured. What is off is not loaded. */
export async function openObservers(config: Config, env: NodeJS.ProcessEnv, database: Database, log: Log) {
  const { ADMIN_PORT, ADMIN_HOST, METRICS_TOKEN, LOG_REQUESTS } = config;
  database.onSlowStatement((statement) => log.warn(statement, 'a statement took more than half a second'));
  const tracing = await startTracing(env, log);
  const isMeasured = ADMIN_PORT !== undefined || METRICS_TOKEN !== undefined;
  const metrics = isMeasured ? await openMetrics(config, database) : undefined;
  const usage = createUsageRecorder();
  const providerLimits = createProviderLimits(config.rate);
  const stops: (() => void)[] = [];
  let admin: FastifyInstance | undefined;
  const appOptions: Partial<AppOptions> = {
    requestLog: LOG_REQUESTS,
    metrics,
    metricsToken: METRICS_TOKEN,
    usage,
    providerLimits,
    tracing: tracing?.plugin,
  };
  return {
    appOptions,
    /** For a migrated database. */
    start() {
      const store = () => usage.store(database);
      const load = () => providerLimits.load(database);
      stops.push(
        startPeriodic({ name: 'Storing the usage', intervalMs: hourMs, isDelayed: true, run: store }, log),
        startPeriodic({ name: 'Reading the limits of providers', intervalMs: limitsMs, run: load }, log),
      );
    },
    async listen() {
      if (ADMIN_PORT === undefined || !metrics) return;
      const { openAdminServer } = await import('./metrics/routes.ts');
      admin = await openAdminServer({ metrics, token: METRICS_TOKEN, host: ADMIN_HOST, port: ADMIN_PORT }).catch(
        (error: unknown) => {
          throw new ListenError({ HOST: ADMIN_HOST, PORT: ADMIN_PORT }, error, 'ADMIN_');
        },
      );
      log.info(`Metrics are at ${admin.listeningOrigin}/metrics`);
    },
    async close() {
      for (const stop of stops) stop();
      // An unavailable database must not delay the stop.
      await Promise.all([admin?.close(), tracing?.stop(), usage.store(database).catch(() => undefined)]);
    },
  };
}

async function openMetrics({ BACKUP_AT, BACKUP_DIR, DATA_DIR }: Config, database: Database) {
  const { createMetrics } = await import('./metrics/index.ts');
  return createMetrics({
    ...{ database, version: packageVersion(), commit: builtCommit(), makesBackups: BACKUP_AT !== 'off' },
    folders: { data: DATA_DIR, backups: BACKUP_DIR },
  });
}
