import type { FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import type { CreateArea } from '../../../interfaces/plugin/metrics.ts';
import { unavailableHints, unavailableReason } from '../../../database/unavailable-reason.ts';

/** Requests by route template, never by path: the number of series is bounded by that of routes. */
export const requestMetrics: CreateArea = (register) => {
  const registers = [register];
  const requests = new Counter({
    name: 'booking_http_requests_total',
    help: 'Requests by method, route template and class of the status; `aborted` if the client left first',
    labelNames: ['method', 'route', 'status'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'booking_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response',
    labelNames: ['method', 'route'] as const,
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  const unavailable = new Counter({
    name: 'booking_http_unavailable_total',
    help: 'Responses with status 503 by reason',
    labelNames: ['reason'] as const,
    registers,
  });
  // From 0, since Prometheus sees no increase in the first value of a series.
  for (const reason of Object.keys(unavailableHints)) unavailable.inc({ reason }, 0);
  return {
    onResponse(request, reply) {
      const labels = labelsOf(request);
      requests.inc({ ...labels, status: `${Math.floor(reply.statusCode / 100)}xx` });
      duration.observe(labels, reply.elapsedTime / 1_000);
      if (reply.statusCode === 503) unavailable.inc({ reason: unavailableReason(request.problem) });
    },
    onAbort: (request) => requests.inc({ ...labelsOf(request), status: 'aborted' }),
  };
};

/** One series per route for all methods that it refuses, and one for all unknown paths. */
function labelsOf({ method, routeOptions: { url, config } }: FastifyRequest) {
  if (url === undefined) return { method: 'other', route: 'unknown' };
  return { method: config.isMethodNotAllowed ? 'other' : method, route: url };
}
