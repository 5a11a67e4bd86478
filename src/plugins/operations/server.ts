import type { FastifyInstance } from 'fastify';
import { builtCommit, packageVersion } from '../../core/project.ts';
import { ListenError } from '../../database/describe-error.ts';
import type { Job } from '../../database/periodic.ts';
import { loadWatched, type ServerContext, type ServerPart } from '../../interfaces/plugin/define-plugin.ts';
import type { Metrics } from './metrics/index.ts';
import { operationsSettings } from './settings.ts';
import { startTracing } from './tracing.ts';
import { createUsageRecorder } from './usage/recorder.ts';

const hourMs = 60 * 60_000;

/** Metrics, traces and usage as configured. What is off is not loaded. */
export async function openOperations(context: ServerContext, jobs: Job[]): Promise<ServerPart> {
  const { config, database, env, log } = context;
  const { ADMIN_PORT, ADMIN_HOST, METRICS_TOKEN } = config.of(operationsSettings);
  const tracing = await startTracing(env, log);
  const isMeasured = ADMIN_PORT !== undefined || METRICS_TOKEN !== undefined;
  const metrics = isMeasured ? await openMetrics(context) : undefined;
  const metered = metrics && (await createMetricsPart(metrics, METRICS_TOKEN));
  const usage = createUsageRecorder();
  let admin: FastifyInstance | undefined;
  return {
    instrumentation: tracing?.plugin,
    observe(app, settings) {
      metered?.observe?.(app, settings);
      usage.observe(app);
    },
    routes: metered?.routes,
    periodic: [
      { name: 'Storing the usage', intervalMs: hourMs, isDelayed: true, run: () => usage.store(database) },
      ...jobs,
    ],
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
      // An unavailable database must not delay the stop.
      await Promise.all([admin?.close(), tracing?.stop(), usage.store(database).catch(() => undefined)]);
    },
  };
}

/** Counts the requests of an application, and serves /metrics there to clients with the token, if there is one. */
export async function createMetricsPart(metrics: Metrics, token: string | undefined): Promise<ServerPart> {
  const { metricsRoutes } = await import('./metrics/routes.ts');
  return {
    observe: (app) => metrics.observe(app),
    routes: (app, { countRequest }) => {
      if (token !== undefined) metricsRoutes(app, { metrics, token, countRequest });
    },
  };
}

async function openMetrics({ config, database, plugins }: ServerContext) {
  const { createMetrics } = await import('./metrics/index.ts');
  const { metrics, folders } = await loadWatched(plugins, config);
  return createMetrics(
    {
      ...{ database, config, version: packageVersion(), commit: builtCommit() },
      folders: { data: config.DATA_DIR, ...folders },
    },
    metrics,
  );
}
