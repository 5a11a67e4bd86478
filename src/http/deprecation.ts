import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Marks the route as deprecated in the OpenAPI document and in its responses. */
    deprecation?: Deprecation;
  }
}

/** Dates are YYYY-MM-DD in UTC; `successor` is the path that replaces the route. */
export type Deprecation = { since: string; sunset?: string; successor?: string };

/**
 * Marks later routes with `config.deprecation` as deprecated in the OpenAPI document. All their responses get the
 * headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` to the successor.
 */
export function registerDeprecation(app: FastifyInstance, publicUrl: string) {
  app.addHook('onRoute', (route) => {
    const { deprecation } = route.config ?? {};
    if (!deprecation) return;
    route.schema = { ...route.schema, deprecated: true };
    // After the hooks of the list cache, which store `Link`.
    route.onSend = [...[route.onSend ?? []].flat(), createHeaderHook(deprecation, publicUrl)];
  });
}

function createHeaderHook({ since, sunset, successor }: Deprecation, publicUrl: string) {
  const deprecatedAt = toDate(since);
  const sunsetAt = sunset === undefined ? undefined : toDate(sunset);
  if (sunsetAt && sunsetAt < deprecatedAt) throw new Error(`The sunset ${sunset} is before the deprecation ${since}`);
  const link = successor === undefined ? undefined : `<${publicUrl}${successor}>; rel="successor-version"`;

  return async (_request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    reply.header('deprecation', `@${deprecatedAt.getTime() / 1_000}`);
    if (sunsetAt) reply.header('sunset', sunsetAt.toUTCString());
    const otherLinks = reply.getHeader('link');
    if (link) reply.header('link', otherLinks === undefined ? link : `${String(otherLinks)}, ${link}`);
    return payload;
  };
}

function toDate(day: string) {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day)
    throw new Error(`${day} is not a date as YYYY-MM-DD`);
  return date;
}
