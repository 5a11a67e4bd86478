import { Counter } from 'prom-client';
import type { CreateArea } from '../../../interfaces/plugin/metrics.ts';

/** What a limit or a wrong key refused. */
export const refusalMetrics: CreateArea = (register) => {
  const limited = new Counter({
    name: 'booking_http_rate_limited_total',
    help: 'Responses with status 429: with a valid key (`key`), or without (`address`)',
    labelNames: ['limit'] as const,
    registers: [register],
  });
  const wrongKeys = new Counter({
    name: 'booking_http_wrong_keys_total',
    help: 'Requests with an API key that is not valid; not those without a key',
    registers: [register],
  });
  return {
    onResponse(request, reply) {
      if (reply.statusCode !== 429 && reply.statusCode !== 401) return;
      const { ctx, headers } = request as Partial<typeof request>;
      if (reply.statusCode === 429) limited.inc({ limit: ctx ? 'key' : 'address' });
      const isKeyRefused = !ctx && reply.hasHeader('www-authenticate');
      if (isKeyRefused && headers?.['x-api-key'] !== undefined) wrongKeys.inc();
    },
  };
};
