import type { ServerPart } from '../../src/interfaces/plugin/define-plugin.ts';
import { createMetrics, loadAreas, type MetricsSources } from '../../src/plugins/operations/metrics/index.ts';
import { createMetricsPart } from '../../src/plugins/operations/server.ts';
import { plugins } from '../../src/plugins.ts';

const areas = await loadAreas(plugins);

/** The metrics of all plugins. */
export const createTestMetrics = (sources: Omit<MetricsSources, 'version'>) =>
  createMetrics({ version: 'test', ...sources }, areas);

/** As `createTestMetrics`, with the server parts that count requests. */
export async function createMeasured(sources: Omit<MetricsSources, 'version'>, token?: string) {
  const metrics = createTestMetrics(sources);
  const parts: ServerPart[] = [await createMetricsPart(metrics, token)];
  return { metrics, parts };
}
