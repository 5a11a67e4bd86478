import { createRequire } from 'node:module';
import type { Registry } from 'prom-client';
import type { CreateArea } from '../../../interfaces/plugin/metrics.ts';

/**
 * The default metrics of prom-client without `gc`: its observer of each garbage collection costs large lists 3 to 6 % of
 * their processor time, and `collectDefaultMetrics` cannot leave it out.
 */
const defaultMetrics = [
  ...['processCpuTotal', 'processStartTime', 'osMemoryHeap', 'processOpenFileDescriptors'],
  ...['processMaxFileDescriptors', 'eventLoopLag', 'processResources', 'processHandles'],
  ...['heapSizeAndUsed', 'heapSpacesSizeAndUsed', 'version'],
];
type Collect = (register: Registry, config: { eventLoopMonitoringPrecision: number }) => void;

/** Memory, processor time, event-loop delay and handles, by the names of prom-client. */
export const processMetrics: CreateArea = ({ register, gauge }, { version, commit = 'unknown' }) => {
  const require = createRequire(import.meta.url);
  for (const name of defaultMetrics) {
    const collect = require(`prom-client/lib/metrics/${name}.js`) as Collect;
    collect(register, { eventLoopMonitoringPrecision: 10 });
  }
  const help = 'Always 1; the version and the commit are in the labels';
  gauge('booking_build_info', help, 'version', 'commit').set({ version, commit }, 1);
  return {};
};
