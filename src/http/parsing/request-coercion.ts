import { Type, type TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { checkBody } from './bodies.ts';
import { createCoercion } from '../../schema/coercion.ts';
import { createKnownFields } from './known-fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    coerceQuery?: ReturnType<typeof createCoercion>;
    coerceBody?: ReturnType<typeof createCoercion>;
    coerceParams?: ReturnType<typeof createCoercion>;
    queryNames?: Set<string>;
    findUnknown?: (body: Record<string, unknown>) => Iterable<string>;
  }
}

/** For a route without parameters, so that nothing reads what a client sends. */
const dropAll = createCoercion(Type.Object({}));

/** Coerces the query, body and path parameters of every route to the types of its schema before validation. */
export function coerceRequests(app: FastifyInstance) {
  const knownFields = createKnownFields();
  app.addHook('onRoute', (route) => {
    const { querystring, body, params } = (route.schema ?? {}) as Record<string, TObject | undefined>;
    knownFields.add(route.schema);
    route.config = {
      ...route.config,
      queryNames: new Set(Object.keys(querystring?.properties ?? {})),
      coerceQuery: querystring ? createCoercion(querystring) : dropAll,
      ...(body ? { coerceBody: createCoercion(body), findUnknown: knownFields.finder(route.schema) } : {}),
      ...(params ? { coerceParams: createCoercion(params) } : {}),
    };
  });

  app.addHook('preParsing', checkBody);

  app.addHook('preValidation', async (request, reply) => {
    const { routeOptions } = request;
    const { coerceQuery, coerceBody, coerceParams, queryNames, findUnknown } = routeOptions.config;
    const query = request.query as Record<string, unknown>;
    const body = coerceBody ? getBody(request) : {};
    const ignored = new Set<string>();
    const unknown = [Object.keys(query).filter((name) => !queryNames?.has(name)), findUnknown?.(body) ?? []];
    for (const names of unknown) {
      for (const name of names) {
        if (ignored.size === maxIgnored) break;
        if (isHeaderSafe(name)) ignored.add(name);
      }
    }
    if (ignored.size > 0) reply.header('x-ignored-parameters', [...ignored].join(', '));
    const params = (request.params ?? {}) as Record<string, unknown>;
    // An id has one spelling, so that path-based caches and rules cannot be bypassed.
    if (hasPaddedId(routeOptions.schema, params)) throw new Problem('not_found', 'There is nothing at this path');
    if (coerceParams) request.params = coerceParams(params);
    if (coerceQuery) request.query = coerceQuery(query);
    if (coerceBody) request.body = coerceBody(body);
  });
}

const maxIgnored = 10;

/** True if the name is safe in a header. */
const isHeaderSafe = (name: string) => /^[A-Za-z0-9_.[\]-]{1,40}$/.test(name);

/** True if an id in the path has a leading zero. */
function hasPaddedId(schema: FastifySchema | undefined, params: Record<string, unknown>) {
  const { properties = {} } = (schema?.params ?? {}) as Partial<TObject>;
  return Object.entries(properties).some(
    ([name, { type }]) => type === 'integer' && /^-?0\d/.test(String(params[name])),
  );
}

function getBody({ body }: FastifyRequest): Record<string, unknown> {
  const input = body ?? {};
  if (typeof input !== 'object' || Array.isArray(input))
    throw new Problem('invalid', 'The body must hold named fields');
  return input as Record<string, unknown>;
}
