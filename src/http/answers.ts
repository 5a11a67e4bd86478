import { Type, type Static, type TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Nullable } from '../core/schema.ts';
import type { Page } from '../lists/list.ts';
import { revalidate, updatedThrough } from './versions.ts';

/** How the main interface puts things: schema and function side by side, so they cannot drift apart. */
const ProblemBody = Type.Object({ error: Type.String() });
const problems = { '4xx': ProblemBody, '5xx': ProblemBody };

export const answers = <S extends TSchema>(view: S) => ({ 200: view, ...problems });
export const created = <S extends TSchema>(view: S) => ({ 201: view, ...problems });

/** Route options of every list: a weak ETag, and 304 for who has the answer already. */
export const plainList = { preHandler: revalidate };
export const pagedList = { preHandler: [revalidate, updatedThrough] };

const Pagination = Type.Object({
  total_items: Type.Integer(),
  per_page: Type.Integer(),
  current_page: Type.Integer(),
  total_pages: Type.Integer(),
  previous_page: Nullable(Type.Integer()),
  next_page: Nullable(Type.Integer()),
});
export const Envelope = <S extends TSchema>(item: S) =>
  Type.Object({ pagination: Pagination, items: Type.Array(item) });

/** Either of the two, told apart by type alone: a union would make the serializer validate every item. */
export const ListOrEnvelope = <S extends TSchema>(item: S) => {
  const envelope = Envelope(item);
  return Type.Unsafe<Static<S>[] | Static<typeof envelope>>({
    type: ['array', 'object'],
    items: item,
    properties: envelope.properties,
    required: envelope.required,
  });
};

/** The page with where it stands in the whole; past the end `previous_page` is the last page that has items. */
export function toEnvelope<T>({ items, page, limit }: Page<T>, total: number) {
  const pages = Math.ceil(total / limit);
  const pagination: Static<typeof Pagination> = {
    total_items: total,
    per_page: limit,
    current_page: page,
    total_pages: pages,
    previous_page: page > 1 && pages > 0 ? Math.min(page - 1, pages) : null,
    next_page: page < pages ? page + 1 : null,
  };
  return { pagination, items };
}

/**
 * Adds `Link: <…>; rel="next"` while there is more: by `since_id`, which stays right while rows are added, or by
 * `page` where the order is not by id or other providers' items are among them.
 */
export function linkNext(request: FastifyRequest, reply: FastifyReply, page: Page<unknown>, by: 'since_id' | 'page') {
  if (!page.more || page.lastId === null) return;
  const next = new URL(request.url, `${request.ctx.settings.publicUrl}/`);
  // The base may itself have a path, which the request's address does not know of.
  const { pathname } = new URL(request.ctx.settings.publicUrl);
  if (pathname !== '/') next.pathname = pathname.replace(/\/$/, '') + next.pathname;
  next.searchParams.delete('page');
  if (by === 'since_id') next.searchParams.set('since_id', String(page.lastId));
  else next.searchParams.set('page', String(page.page + 1));
  reply.header('link', `<${next.href}>; rel="next"`);
}
