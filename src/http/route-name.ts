import type { FastifyRequest } from 'fastify';

/** The path of the route with its parameters' names: the URL is never logged, since it may contain a token. */
export const getRoutePattern = ({ routeOptions }: FastifyRequest) => routeOptions.url ?? 'unknown path';

/** The method and the path of the route. */
export const getRoute = (request: FastifyRequest) => `${request.method} ${getRoutePattern(request)}`;
