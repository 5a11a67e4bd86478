import { Type, type TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
    /** Path parameters that are ids. */
    idNames?: string[];
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
      ...(params ? { coerceParams: createCoercion(params), idNames: findIdNames(params) } : {}),
    };
  });

  app.addHook('preParsing', checkBody);

  app.addHook('preValidation', (request, reply, done) => {
    const { coerceQuery, coerceBody, coerceParams, queryNames, findUnknown, idNames } = request.routeOptions.config;
    const query = request.query as Record<string, unknown>;
    const body = coerceBody ? getBody(request) : {};
    const ignored = findIgnored(
      Object.keys(query).filter((name) => !queryNames?.has(name)),
      findUnknown?.(body) ?? [],
    );
    if (ignored.size > 0) reply.header('x-ignored-parameters', [...ignored].join(', '));
    const params = (request.params ?? {}) as Record<string, unknown>;
    // An id has one spelling, so that path-based caches and rules cannot be bypassed.
    if (idNames?.some((name) => isPadded(params[name])))
      throw new Problem('not_found', 'There is nothing at this path');
    if (coerceParams) request.params = coerceParams(params);
    if (coerceQuery) request.query = coerceQuery(query);
    if (coerceBody) request.body = coerceBody(body);
    done();
  });
}

const maxIgnored = 10;

function findIgnored(...unknown: Iterable<string>[]) {
  const ignored = new Set<string>();
  for (const names of unknown) {
    for (const name of names) {
      if (ignored.size === maxIgnored) break;
      if (isHeaderSafe(name)) ignored.add(name);
    }
  }
  return ignored;
}

/** True if the name is safe in a header. */
const isHeaderSafe = (name: string) => /^[A-Za-z0-9_.[\]-]{1,40}$/.test(name);

const findIdNames = ({ properties }: TObject) =>
  Object.keys(properties).filter((name) => properties[name]?.['type'] === 'integer');

/** True for an id with a leading zero. */
const isPadded = (id: unknown) => /^-?0\d/.test(String(id));

function getBody({ body }: FastifyRequest): Record<string, unknown> {
  const input = body ?? {};
  if (typeof input !== 'object' || Array.isArray(input))
    throw new Problem('invalid', 'The body must hold named fields');
  return input as Record<string, unknown>;
}
