import { collectDefaultMetrics, Gauge } from 'prom-client';
import type { CreateArea } from './area.ts';

/** Memory, processor time, event-loop delay, garbage collection and handles, by the names of prom-client. */
export const processMetrics: CreateArea = (register, { version }) => {
  collectDefaultMetrics({ register });
  const build = new Gauge({
    name: 'booking_build_info',
    help: 'Always 1; the version is in the label',
    labelNames: ['version'] as const,
    registers: [register],
  });
  build.set({ version }, 1);
  return {};
};
