import { Type, type TObject } from '@sinclair/typebox';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { checkBody } from './bodies.ts';
import { reportBodyErrors } from './body-errors.ts';
import { createCoercion } from '../../core/schema/coercion.ts';
import { findUnknownFields, readOnlyNames, type Unknown, nameIgnored } from './known-fields.ts';
import { applyInputAliases, type InputAliases } from '../../lists/input-aliases.ts';
import { ignoresKey, keyHeader } from '../idempotency.ts';
import { acknowledgeStrict, prefersStrict, refuse, refusesName, sortUnknown } from './strict-handling.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    coerceQuery?: ReturnType<typeof createCoercion>;
    coerceBody?: ReturnType<typeof createCoercion>;
    coerceParams?: ReturnType<typeof createCoercion>;
    queryNames?: Set<string>;
    inputAliases?: InputAliases;
    /** Read-only names of the item beside those of every item. */
    readOnly?: readonly string[];
    /** Path parameters that are ids. */
    idNames?: string[];
  }
}

/** Schema of a route without parameters, so that nothing reads what a client sends. */
const noFields = Type.Object({});
const dropAll = createCoercion(noFields);

/** Coerces the query, body and path parameters of every route to the types of its schema before validation. */
export function coerceRequests(app: FastifyInstance) {
  app.addHook('onRoute', reportBodyErrors);
  app.addHook('onRoute', (route) => {
    const { querystring, body, params } = (route.schema ?? {}) as Record<string, TObject | undefined>;
    route.config = {
      ...route.config,
      queryNames: new Set(Object.keys(querystring?.properties ?? {})),
      coerceQuery: querystring ? createCoercion(querystring) : dropAll,
      ...(body ? { coerceBody: createCoercion(body) } : {}),
      ...(params ? { coerceParams: createCoercion(params), idNames: findIdNames(params) } : {}),
    };
  });

  app.addHook('preParsing', checkBody);

  app.addHook('preValidation', (request, reply, done) => {
    const { config } = request.routeOptions;
    const query = request.query as Fields;
    const unknownNames = Object.entries(query).filter(([name]) => !config.queryNames?.has(name));
    const schema = (request.routeOptions.schema?.body ?? (config.refusesUnknown && noFields)) as TObject | undefined;
    const body = schema ? getBody(request) : {};
    const params = (request.params ?? {}) as Fields;
    // An id has one spelling, so that path-based caches and rules cannot be bypassed.
    const hasPaddedId = config.idNames?.some((name) => isPadded(params[name])) === true;
    if (config.coerceParams && !hasPaddedId) request.params = config.coerceParams(params);

    const read = config.inputAliases && applyInputAliases(config.inputAliases, schema!, body);
    if (config.coerceQuery) request.query = config.coerceQuery(query);
    if (config.coerceBody) request.body = config.coerceBody(read?.inputs ?? body);
    const isStrict = !request.is404 && prefersStrict(request);
    if (isStrict) acknowledgeStrict(reply);
    // No item is sent back to an act.
    const readOnly = refusesName(config, 'id', request.body) ? [] : getReadOnly(config);
    function* findUnknown(): Generator<Unknown> {
      yield* unknownNames;
      if (schema) yield* findUnknownFields(read?.known ?? schema, body, readOnly);
      else if (Object.hasOwn(request.body ?? {}, 'dry_run')) yield ['dry_run', (request.body as Fields)['dry_run']];
      if (isStrict && ignoresKey(request)) yield [keyHeader, ''];
    }
    const { refused, ignored } = sortUnknown(request, isStrict, findUnknown());
    if (refused.length > 0) refuse(request, refused);
    else nameIgnored(reply, ignored);
    if (hasPaddedId) throw new Problem('not_found', 'There is nothing at this path');
    done();
  });
}

type Fields = Record<string, unknown>;

const getReadOnly = ({ readOnly = [] }: FastifyContextConfig) => [...readOnlyNames, ...readOnly];

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
