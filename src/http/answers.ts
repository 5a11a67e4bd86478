import { Type, type Static, type TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Nullable } from '../core/schema.ts';
import type { Page } from '../lists/list.ts';
import { exactDateTime } from '../core/moment.ts';
import { failAnswer, keepAnswer, shareAnswer } from './kept.ts';
import { leaveTurn, takeTurn } from './turns.ts';
import { revalidate } from './versions.ts';

/** How the main interface puts things: schema and function side by side, so they cannot drift apart. */
const ProblemBody = Type.Object({ error: Type.String() });
const problems = { '4xx': ProblemBody, '5xx': ProblemBody };

/** What the booking endpoints answer instead: every fault with its code. */
const FaultsBody = Type.Object({
  successful: Type.Boolean(),
  errors: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
  error: Type.String({ description: 'The first message' }),
});
export const faults = { '4xx': FaultsBody, '5xx': FaultsBody };

export const answers = <S extends TSchema>(view: S) => ({ 200: view, ...problems });
export const created = <S extends TSchema>(view: S) => ({ 201: view, ...problems });

/** Route options of a list that always tells what depends on the clock, and so has no ETag: a turn alone. */
export const inTurn = { preHandler: takeTurn, onSend: leaveTurn };

/** Route options of every other list: a weak ETag, 304 for who has the answer already, and a turn for who has not. */
export const revalidated = revalidatedUnless(() => false);
/** The same, but for questions whose answer depends on more than the provider's data. */
export function revalidatedUnless(dependsOnMore: (query: Record<string, unknown>) => boolean) {
  return {
    preHandler: [revalidate(dependsOnMore), takeTurn, shareAnswer],
    onSend: [leaveTurn, keepAnswer, matchAny],
    onError: failAnswer,
  };
}

/** Answers 304 to `If-None-Match: *`, which matches whatever there is: only once the question has turned out to be right. */
async function matchAny(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (request.headers['if-none-match']?.trim() !== '*' || reply.statusCode !== 200 || !reply.hasHeader('etag'))
    return payload;
  reply.code(304).removeHeader('content-length').removeHeader('content-type');
  return '';
}

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

/** Answers a page as bare items, with `Link: <…>; rel="next"` while there is more, and where a sync goes on from. */
export function sendItems<T>(request: FastifyRequest, reply: FastifyReply, page: Page<T>): T[] {
  sayThrough(request, reply, page);
  if (page.more) reply.header('link', `<${nextPage(request, page)}>; rel="next"`);
  return page.items;
}

/** Answers a page in the envelope; it was counted for that. */
export function sendEnvelope<T>(request: FastifyRequest, reply: FastifyReply, page: Page<T>) {
  sayThrough(request, reply, page);
  return toEnvelope(page, page.total ?? 0);
}

function sayThrough(request: FastifyRequest, reply: FastifyReply, { through }: Page<unknown>) {
  const { updated_at_min } = request.query as { updated_at_min?: string };
  if (updated_at_min !== undefined) reply.header('x-updated-through', exactDateTime(through));
}

/** Past the end `previous_page` is the last page that has items. */
function toEnvelope<T>({ items, page, limit }: Page<T>, total: number) {
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

/** Only the path and the question are the client's; where we are reached is ours to say. */
function nextPage({ url, ctx }: FastifyRequest, { walk, page, lastId }: Page<unknown>) {
  const { pathname, searchParams } = new URL(url, 'http://path.only');
  searchParams.delete('page');
  if (walk === 'since_id') searchParams.set('since_id', String(lastId));
  else searchParams.set('page', String(page + 1));
  return `${ctx.settings.publicUrl}${pathname}?${searchParams.toString()}`;
}
