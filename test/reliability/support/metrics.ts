import { registerSecret } from './secrets.ts';
import type { Server } from './server.ts';

const token = registerSecret('a-token-of-the-metrics');
/** Environment of a server whose metrics are read. */
export const metricsEnv = { METRICS_TOKEN: token };

/** Returns a function from the name of a series to its value; NaN if there is none. */
export async function readMetrics({ base }: Server) {
  const response = await fetch(`${base}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  return (series: string) => Number(text.split(`\n${series} `)[1]?.split('\n')[0] ?? NaN);
}
