import { Type, type Static, type TSchema } from '@sinclair/typebox';
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify';
import { t } from '../core/schema/types.ts';
import type { Ctx } from '../database/context.ts';
import { responses } from './responses.ts';

type Described = Pick<FastifySchema, 'operationId' | 'summary' | 'description'>;
type Read<Q extends TSchema> = Described &
  Pick<FastifySchema, 'profiles' | 'publicQuery' | 'forbidden'> & { querystring?: Q };
type Written<B extends TSchema> = Described & { body: B; config?: FastifyContextConfig };

/** Adds the routes of items that respond with the item; those that write are for full keys. */
export function itemRoutes<V extends TSchema>(app: FastifyInstance, item: string, tags: string[], view: V) {
  const ofItem = { item, params: Type.Object({ id: t.Id }), response: responses.ok(view), tags };
  const profiles = ['full'] as const;
  type Item = Static<V>;
  type Path = { Params: { id: number } };
  return {
    post: <B extends TSchema>(
      create: (ctx: Ctx, body: Static<B>) => Promise<Item & { id: number }>,
      { config, ...schema }: Written<B>,
    ) =>
      app.post<{ Body: Static<B> }>('', {
        schema: { ...schema, tags, profiles, response: responses.created(view) },
        config: { idempotency: {}, ...config },
        handler: async ({ ctx, body }, reply) => {
          const created = await create(ctx, body);
          return reply.created(created.id, created);
        },
      }),
    get: <Q extends TSchema>(find: (ctx: Ctx, id: number, query: Static<Q>) => Promise<Item>, schema: Read<Q>) =>
      app.get<Path & { Querystring: Static<Q> }>('/:id', {
        schema: { ...schema, ...ofItem },
        handler: ({ ctx, params, query }) => find(ctx, params.id, query),
      }),
    put: <B extends TSchema>(
      change: (ctx: Ctx, id: number, body: Static<B>) => Promise<Item>,
      { config, ...schema }: Written<B>,
    ) =>
      app.put<Path & { Body: Static<B> }>('/:id', {
        schema: { ...schema, ...ofItem, profiles },
        config,
        handler: ({ ctx, params, body }) => change(ctx, params.id, body),
      }),
    delete: (remove: (ctx: Ctx, id: number) => Promise<Item>, schema: Described) =>
      app.delete<Path>('/:id', {
        schema: { ...schema, ...ofItem, profiles },
        handler: ({ ctx, params }) => remove(ctx, params.id),
      }),
  };
}
