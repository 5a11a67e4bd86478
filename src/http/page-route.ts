import { Type, type TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { listRoute } from './list-cache/index.ts';
import { responses, send } from './responses.ts';
import type { ReadableList } from './spreadsheets.ts';

type ReadAreas = Parameters<typeof listRoute.cached>[0];
type PagedList<Query> = ReadableList<Query> & { Query: TSchema; readAreas: ReadAreas };

/** Adds a cached list that responds with an array; `unless` is that of `listRoute.cached`. */
export const addPageRoute = <Query>(
  app: FastifyInstance,
  list: PagedList<Query>,
  schema: FastifySchema,
  unless?: Parameters<typeof listRoute.cached>[1],
) =>
  app.get('', {
    schema: { ...schema, querystring: list.Query, response: responses.ok(Type.Array(list.View)) },
    ...listRoute.cached(list.readAreas, unless, list),
    handler: async (request, reply) =>
      send.items(request, reply, await list.page(listRoute.toCtx(request), request.query as Query)),
  });
