import type { FastifyRequest } from 'fastify';
import { Histogram } from 'prom-client';
import { unavailableHints, unavailableReason } from '../../../database/describe-error.ts';
import type { CreateArea } from '../../../interfaces/plugin/metrics.ts';
import { signOnCounts } from '../../../domains/school/auth/session-service.ts';

/** Requests by route template, never by path: the number of series is bounded by that of routes. */
export const requestMetrics: CreateArea = ({ register, counter }) => {
  const requests = counter(
    'booking_http_requests_total',
    'Requests by method, route template and class of the status; `aborted` if the client left first',
    'method',
    'route',
    'status',
  );
  const duration = new Histogram({
    name: 'booking_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response',
    labelNames: ['method', 'route'] as const,
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [register],
  });
  const unavailable = counter('booking_http_unavailable_total', 'Responses with status 503 by reason', 'reason');
  // From 0, since Prometheus sees no increase in the first value of a series.
  for (const reason of Object.keys(unavailableHints)) unavailable.inc({ reason }, 0);
  return {
    onResponse(request, reply) {
      const labels = toLabels(request);
      requests.inc({ ...labels, status: `${Math.floor(reply.statusCode / 100)}xx` });
      duration.observe(labels, reply.elapsedTime / 1_000);
      if (reply.statusCode === 503) unavailable.inc({ reason: unavailableReason(request.problem) });
    },
    onAbort: (request) => requests.inc({ ...toLabels(request), status: 'aborted' }),
  };
};

/** One series per route for all methods that it refuses, and one for all unknown paths. */
function toLabels({ method, routeOptions: { url, config } }: FastifyRequest) {
  if (url === undefined) return { method: 'other', route: 'unknown' };
  return { method: config.isMethodNotAllowed ? 'other' : method, route: url };
}

/** Requests that a limit or a wrong key refused. */
export const refusalMetrics: CreateArea = ({ counter }) => {
  const limited = counter(
    'booking_http_rate_limited_total',
    'Responses with status 429: with a valid key (`key`), or without (`address`)',
    'limit',
  );
  const wrongKeys = counter(
    'booking_http_wrong_keys_total',
    'Requests with an API key that is not valid; not those without a key',
  );
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

export const bookingMetrics: CreateArea = ({ counter, readCounter }, { database: { counters } }) => {
  const bookings = readCounter(
    'booking_bookings_total',
    'Bookings made; a repeated request with the same Idempotency-Key counts once',
  );
  const promotions = readCounter(
    'booking_waiting_list_promotions_total',
    'Participants who got a better place because one became free',
  );
  const refused = counter(
    'booking_bookings_refused_total',
    'Refused booking requests by error code; one with several codes counts for each',
    'code',
  );
  return {
    refresh() {
      bookings.set(counters.committed.bookings);
      promotions.set(counters.committed.promotions);
    },
    onResponse({ routeOptions, problem }) {
      if (problem === null || !routeOptions.config.countsRefusals) return;
      for (const code of problem.codes) refused.inc({ code });
    },
  };
};

export const signOnMetrics: CreateArea = ({ readCounter }) => {
  const signOns = readCounter(
    'booking_sign_ons_total',
    'Sign-ons of course users at this process by way and result; `limited` after too many failures',
    'way',
    'result',
  );
  return {
    refresh() {
      for (const [way, counts] of Object.entries(signOnCounts))
        for (const [result, count] of Object.entries(counts)) signOns.set(count, { way, result });
    },
  };
};
