import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import {
  createMeters,
  type CreateAppArea,
  type CreateArea,
  type MetricsSources,
} from '../../../interfaces/plugin/metrics.ts';
import { databaseMetrics, databaseStateMetrics } from './database.ts';
import { diskMetrics } from './disks.ts';
import { queueMetrics, responseCacheMetrics } from './queues.ts';
import { bookingMetrics, refusalMetrics, requestMetrics, signOnMetrics } from './requests.ts';

/** The default metrics but `gc`, whose observer costs large lists 3 to 6 % of their processor time. */
const defaultMetrics = [
  ...['processCpuTotal', 'processStartTime', 'osMemoryHeap', 'processOpenFileDescriptors'],
  ...['processMaxFileDescriptors', 'eventLoopLag', 'processResources', 'processHandles'],
  ...['heapSizeAndUsed', 'heapSpacesSizeAndUsed', 'version'],
];
type Collect = (register: Registry, config: { eventLoopMonitoringPrecision: number }) => void;

/** Memory, processor time, event-loop delay and handles, by the names of prom-client. */
const processMetrics: CreateArea = ({ register, gauge }, { version, commit = 'unknown' }) => {
  const require = createRequire(import.meta.url);
  for (const name of defaultMetrics) {
    const collect = require(`prom-client/lib/metrics/${name}.js`) as Collect;
    collect(register, { eventLoopMonitoringPrecision: 10 });
  }
  const help = 'Always 1; the version and the commit are in the labels';
  gauge('booking_build_info', help, 'version', 'commit').set({ version, commit }, 1);
  return {};
};

export type { MetricsSources } from '../../../interfaces/plugin/metrics.ts';

/** Areas in the order of /metrics, which those of other plugins follow. */
const ownAreas: CreateAppArea[] = [
  ...[processMetrics, requestMetrics, refusalMetrics, databaseMetrics, databaseStateMetrics],
  ...[queueMetrics, responseCacheMetrics, bookingMetrics, signOnMetrics, diskMetrics],
];

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one application, in a registry of its own. */
export function createMetrics(sources: MetricsSources, addedAreas: CreateArea[]) {
  const register = new Registry();
  const meters = createMeters(register);
  const created = [...ownAreas, ...addedAreas].map((createArea) => createArea(meters, sources));
  const onResponse = created.flatMap((area) => area.onResponse ?? []);
  const onAbort = created.flatMap((area) => area.onAbort ?? []);
  let observed: FastifyInstance | undefined;
  let rendering: Promise<string> | undefined;
  const render = async () => {
    const app = observed;
    // The queries of one turn share a connection, so that a scrape leaves the others to the requests.
    if (app) await Promise.all(created.map(async (area) => area.refresh?.(app)));
    return register.metrics();
  };
  return {
    contentType: register.contentType,
    /** Adds hooks for routes that are added later. */
    observe(app: FastifyInstance) {
      observed = app;
      app.addHook('onResponse', (request, reply, done) => {
        for (const count of onResponse) count(request, reply);
        done();
      });
      app.addHook('onRequestAbort', (request, done) => {
        for (const count of onAbort) count(request);
        done();
      });
    },
    /** The text for Prometheus. Scrapes at the same time share it, since each would remove the other's values. */
    render: () => (rendering ??= render().finally(() => (rendering = undefined))),
    describe: () => register.getMetricsAsArray().map(({ name, help }) => ({ name, help })),
  };
}
