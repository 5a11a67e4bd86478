import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Ctx } from '../database/context.ts';
import type { Page } from '../lists/list-types.ts';
import { listRoute } from './list-cache/index.ts';
import { responses, send } from './responses.ts';

type ReadAreas = Parameters<typeof listRoute.cached>[0];
type PagedList<Query, View extends TObject> = {
  Query: TSchema;
  View: View;
  readAreas: ReadAreas;
  page(ctx: Ctx, query: Query): Promise<Page<Static<View>>>;
};

/** Adds a cached list that responds with an array; `unless` is that of `listRoute.cached`. */
export const addPageRoute = <Query, View extends TObject>(
  app: FastifyInstance,
  list: PagedList<Query, View>,
  schema: FastifySchema,
  unless?: Parameters<typeof listRoute.cached>[1],
) =>
  app.get('', {
    schema: { ...schema, querystring: list.Query, response: responses.ok(Type.Array(list.View)) },
    ...listRoute.cached(list.readAreas, unless),
    handler: async (request, reply) =>
      send.items(request, reply, await list.page(listRoute.toCtx(request), request.query as Query)),
  });
