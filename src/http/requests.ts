import type { TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../core/problem.ts';
import { checkBody } from './bodies.ts';
import { fieldsReader } from '../core/read.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readQuery?: ReturnType<typeof fieldsReader>;
    readBody?: ReturnType<typeof fieldsReader>;
    readParams?: ReturnType<typeof fieldsReader>;
    queryNames?: Set<string>;
  }
}

/** Every route's query and body are read by its own schema, whatever dialect they came in, before they are validated. */
export function readRequests(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const { querystring, body, params } = (route.schema ?? {}) as Record<string, TObject | undefined>;
    route.config = {
      ...route.config,
      queryNames: new Set(Object.keys(querystring?.properties ?? {})),
      ...(querystring ? { readQuery: fieldsReader(querystring) } : {}),
      ...(body ? { readBody: fieldsReader(body) } : {}),
      ...(params ? { readParams: fieldsReader(params) } : {}),
    };
  });

  app.addHook('preParsing', checkBody);

  app.addHook('preValidation', async (request, reply) => {
    const { readQuery, readBody, readParams, queryNames } = request.routeOptions.config;
    const sent = request.query as Record<string, unknown>;
    const ignored = Object.keys(sent).filter((name) => !queryNames?.has(name) && isPlainName(name));
    if (ignored.length > 0) reply.header('x-ignored-parameters', ignored.slice(0, 10).join(', '));
    if (readParams) request.params = readParams(request.params as Record<string, unknown>);
    if (readQuery) request.query = readQuery(sent);
    if (readBody) request.body = readBody(bodyOf(request));
  });
}

/** Only such a name can stand in a header; another one is ignored without a word. */
const isPlainName = (name: string) => /^[A-Za-z0-9_.[\]-]{1,40}$/.test(name);

function bodyOf({ body }: FastifyRequest): Record<string, unknown> {
  const sent = body ?? {};
  if (typeof sent !== 'object' || Array.isArray(sent)) throw new Problem('invalid', 'The body must hold named fields');
  return sent as Record<string, unknown>;
}
