import type { TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { checkBody } from './bodies.ts';
import { createCoercion } from '../../schema/coercion.ts';
import { createKnownFields } from './known-fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readQuery?: ReturnType<typeof createCoercion>;
    readBody?: ReturnType<typeof createCoercion>;
    readParams?: ReturnType<typeof createCoercion>;
    queryNames?: Set<string>;
    findUnknown?: (body: Record<string, unknown>) => Iterable<string>;
  }
}

/** Every route's query and body are read by its own schema, whatever dialect they came in, before they are validated. */
export function coerceRequests(app: FastifyInstance) {
  const documented = createKnownFields();
  app.addHook('onRoute', (route) => {
    const { querystring, body, params } = (route.schema ?? {}) as Record<string, TObject | undefined>;
    documented.add(route.schema);
    route.config = {
      ...route.config,
      queryNames: new Set(Object.keys(querystring?.properties ?? {})),
      ...(querystring ? { readQuery: createCoercion(querystring) } : {}),
      ...(body ? { readBody: createCoercion(body), findUnknown: documented.finder(route.schema) } : {}),
      ...(params ? { readParams: createCoercion(params) } : {}),
    };
  });

  app.addHook('preParsing', checkBody);

  app.addHook('preValidation', async (request, reply) => {
    const { routeOptions } = request;
    const { readQuery, readBody, readParams, queryNames, findUnknown } = routeOptions.config;
    const input = request.query as Record<string, unknown>;
    const body = readBody ? getBody(request) : {};
    const ignored = new Set<string>();
    const unknown = [Object.keys(input).filter((name) => !queryNames?.has(name)), findUnknown?.(body) ?? []];
    for (const names of unknown) {
      for (const name of names) {
        if (ignored.size === maxIgnored) break;
        if (isPlainName(name)) ignored.add(name);
      }
    }
    if (ignored.size > 0) reply.header('x-ignored-parameters', [...ignored].join(', '));
    const params = (request.params ?? {}) as Record<string, unknown>;
    // An id has one spelling: a cache or a rule on paths must not meet another.
    if (isPadded(routeOptions.schema, params)) throw new Problem('not_found', 'There is nothing at this path');
    if (readParams) request.params = readParams(params);
    if (readQuery) request.query = readQuery(input);
    if (readBody) request.body = readBody(body);
  });
}

const maxIgnored = 10;

/** Only such a name can stand in a header; another one is ignored without a word. */
const isPlainName = (name: string) => /^[A-Za-z0-9_.[\]-]{1,40}$/.test(name);

/** True if an id in the path has a leading zero. */
function isPadded(schema: FastifySchema | undefined, params: Record<string, unknown>) {
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
