import { loadWatched, type ServerPart } from '../../src/interfaces/plugin/define-plugin.ts';
import { createMetrics, type MetricsSources } from '../../src/plugins/operations/metrics/index.ts';
import { createMetricsPart } from '../../src/plugins/operations/server.ts';
import { plugins } from '../../src/plugins.ts';
import { readConfig } from './config.ts';

type Sources = Pick<MetricsSources, 'database'> & Partial<MetricsSources>;

const config = readConfig({ BACKUP_AT: 'off' });
const { metrics: areas } = await loadWatched(plugins, config);

/** The metrics of all plugins. */
export const createTestMetrics = (sources: Sources) =>
  createMetrics({ version: 'test', folders: {}, config, ...sources }, areas);

/** Adds the server parts that count requests to `createTestMetrics`. */
export async function createMeasured(sources: Sources, token?: string) {
  const metrics = createTestMetrics(sources);
  const parts: ServerPart[] = [await createMetricsPart(metrics, token)];
  return { metrics, parts };
}
