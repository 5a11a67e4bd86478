import Fastify, { type FastifyInstance } from 'fastify';
import { hash, timingSafeEqual } from 'node:crypto';
import { limitByAddress, type CountRequest } from '../../../http/auth/address-limit.ts';
import type { Metrics } from './index.ts';

type MetricsRoute = { metrics: Pick<Metrics, 'contentType' | 'render'>; token: string | undefined };

/** Serves /metrics; with a token only to who sends it as `Authorization: Bearer`. */
export function metricsRoutes(
  app: FastifyInstance,
  { metrics, token, countRequest }: MetricsRoute & { countRequest?: CountRequest },
) {
  app.get(
    '/metrics',
    { schema: { hide: true }, ...(countRequest && { preParsing: limitByAddress(countRequest) }) },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      if (token !== undefined && !isEqual(request.headers.authorization ?? '', `Bearer ${token}`)) {
        return reply
          .code(401)
          .header('www-authenticate', 'Bearer')
          .type('text/plain')
          .send('A bearer token is needed\n');
      }
      return reply.type(metrics.contentType).send(await metrics.render());
    },
  );
}

const digest = (text: string) => hash('sha256', text, 'buffer');
const isEqual = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));

/** A server for /metrics alone, for a port that is not reachable from outside. */
export async function openAdminServer({ host, port, ...route }: MetricsRoute & { host: string; port: number }) {
  const app = Fastify({ logger: false, requestTimeout: 10_000, forceCloseConnections: true });
  metricsRoutes(app, route);
  await app.listen({ host, port });
  return app;
}
