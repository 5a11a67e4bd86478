import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { CodedErrorBody } from '../core/schema/problems.ts';
import { t } from '../core/schema/types.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '../lists/list-types.ts';
import { formatExactTimestamp } from '../core/timestamps.ts';
import { itemTooLarge } from '../lists/response-budget.ts';
import { getPausingSerializer, getReplySerializer } from './list-serializer.ts';

const ProblemBody = t.NamedObject('Error', {
  error: Type.String({ description: 'One text; the fields at fault are in `fields` of problem details' }),
});
const problems = { '4xx': ProblemBody, '5xx': ProblemBody };

const CodedErrorsBody = t.NamedObject('BookingError', {
  successful: Type.Boolean({ examples: [false] }),
  errors: Type.Array(CodedErrorBody),
  error: Type.String({ description: 'The first message' }),
});

const Pagination = t.NamedObject(
  'Pagination',
  t.member.open.all({
    total_items: Type.Integer(),
    per_page: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
    previous_page: t.Nullable(Type.Integer()),
    next_page: t.Nullable(Type.Integer()),
  }),
);
const envelope = <S extends TSchema>(name: string, item: S) =>
  t.NamedObject(name, t.member.open.all({ pagination: Pagination, items: Type.Array(item) }));

const listOrEnvelope = <S extends TSchema>(name: string, item: S) => {
  const { properties, required } = envelope(name, item);
  return t.named(
    name,
    Type.Unsafe<Static<S>[] | Static<ReturnType<typeof envelope<S>>>>({
      type: ['array', 'object'],
      items: item,
      properties,
      required,
    }),
  );
};

/** Response schemas of a route, by status. */
export const responses = {
  ok: <S extends TSchema>(view: S) => ({ 200: view, ...problems }),
  created: <S extends TSchema>(view: S) => ({ 201: view, ...problems }),
  accepted: <S extends TSchema>(view: S) => ({ 202: view, ...problems }),
  /** Errors of the booking endpoints: every error with its code. */
  codedErrors: { '4xx': CodedErrorsBody, '5xx': CodedErrorsBody },
  /** A page with its total. */
  envelope,
  /** A list or its envelope, distinguished by type: a union would make the serializer validate every item. */
  listOrEnvelope,
};

async function sendItems<T>(request: FastifyRequest, reply: FastifyReply, page: Page<T>): Promise<T[]> {
  setSyncHeader(request, reply, page);
  const { fitting, written, writer } = await fit(reply, page);
  if (fitting.hasMore) reply.header('link', `<${nextPage(request, fitting)}>; rel="next"`);
  return sendBytes(reply, writer.around([], written)) as T[];
}

async function sendEnvelope<T>(request: FastifyRequest, reply: FastifyReply, page: Page<T>) {
  setSyncHeader(request, reply, page);
  const { fitting, written, writer } = await fit(reply, { ...page, nextBy: 'page' });
  if (fitting.isTruncated) reply.header('link', `<${nextPage(request, fitting)}>; rel="next"`);
  const body = toEnvelope(fitting);
  return sendBytes(reply, writer.around(body, written)) as typeof body;
}

/**
 * Serializes the items that fit into a response. A walk by `since_id` continues after the last of them; one by page
 * numbers at a page of a smaller size, so that the page ends where such a page can begin.
 */
async function fit<T>(reply: FastifyReply, page: Page<T>) {
  const writer = getPausingSerializer(getReplySerializer(reply))!;
  let { written, count } = await writer.items(page.items);
  if (count === 0 && page.items.length > 0) throw itemTooLarge(page.ids[0]);
  let fitting = page;
  if (page.isTruncated || count < page.items.length) {
    fitting = { ...page, isTruncated: true, hasMore: true };
    if (page.nextBy === 'page') {
      const split = splitPage(page, count);
      if (split.count < count) ({ written, count } = await writer.items(page.items.slice(0, split.count)));
      fitting = { ...fitting, limit: split.limit, page: split.page };
    }
    reply.header('x-page-truncated', `items=${count}`);
  }
  return { writer, written, fitting: { ...fitting, items: page.items.slice(0, count), ids: page.ids.slice(0, count) } };
}

/** Typed as the serialized value. */
function sendBytes(reply: FastifyReply, bytes: Buffer): unknown {
  reply.type('application/json; charset=utf-8');
  // A short text leaves in one write with its headers.
  return bytes.length < 8_192 ? bytes.toString() : bytes;
}

/**
 * The end of a truncated page by number: after as many of its first `fitting` items as make a whole number of smaller
 * pages from the start of the list, at least half of them; `page` is the number of the last of these.
 */
export function splitPage({ page, limit }: Pick<Page<unknown>, 'page' | 'limit'>, fitting: number) {
  const before = (page - 1) * limit;
  for (let end = before + fitting; end > before; end -= 1) {
    for (let size = fitting; size >= Math.ceil(fitting / 2); size -= 1) {
      if (end % size === 0) return { count: end - before, limit: size, page: end / size };
    }
  }
  throw new Error('no page size fits a truncated page');
}

export function setSyncHeader(
  request: FastifyRequest,
  reply: FastifyReply,
  { syncedThrough }: Pick<Page<unknown>, 'syncedThrough'>,
) {
  const { updated_at_min } = request.query as { updated_at_min?: string };
  if (updated_at_min !== undefined) reply.header('x-updated-through', formatExactTimestamp(syncedThrough));
}

/** Past the end `previous_page` is the last page that has items. */
function toEnvelope<T>({ items, limit, page, total = 0 }: Page<T>) {
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

/** The address of the page after this one; by its number where the page was read in parts. */
export function setNextPage(request: FastifyRequest, reply: FastifyReply, page: Page<unknown>) {
  const whole: Page<unknown> = page.isTruncated ? { ...page, isTruncated: false, nextBy: 'page' } : page;
  if (page.hasMore) reply.header('link', `<${nextPage(request, whole)}>; rel="next"`);
}

/** The host is that of PUBLIC_URL, never the client's. */
function nextPage(request: FastifyRequest, { nextBy, ids, isTruncated, limit, page }: Page<unknown>) {
  if (nextBy === 'since_id') return addressWith(request, { since_id: ids.at(-1) });
  return addressWith(request, { ...(isTruncated && { limit }), page: page + 1 });
}

function addressWith({ url, ctx }: FastifyRequest, changed: Record<string, number | undefined>) {
  const { pathname, searchParams } = new URL(url, 'http://path.only');
  searchParams.delete('page');
  for (const [name, value] of Object.entries(changed)) searchParams.set(name, String(value));
  return `${ctx.settings.publicUrl}${pathname}?${searchParams.toString()}`;
}

/** Sends a page of a list, serialized. */
export const send = {
  /** Sends a list, with `Link: <…>; rel="next"` while there are more items, and the sync cursor. */
  items: sendItems,
  /** A list without pages, with the sync cursor. */
  async whole<T>(request: FastifyRequest, reply: FastifyReply, items: PromiseLike<T[]>): Promise<T[]> {
    setSyncHeader(request, reply, { syncedThrough: request.ctx.version });
    return await items;
  },
  /** Sends a list with its total in the envelope. */
  envelope: sendEnvelope,
};

declare module 'fastify' {
  interface FastifyReply {
    /** Sets 201 and the address of the new item, below the path that created it or another one. Returns the item. */
    created<T>(id: number | string, item: T, readBelow?: string): T;
  }
}

export function decorateCreated(app: FastifyInstance) {
  app.decorateReply('created', function <T>(this: FastifyReply, id: number | string, item: T, readBelow?: string) {
    const { ctx, params, routeOptions } = this.request;
    const values = params as Record<string, unknown>;
    const path = readBelow ?? routeOptions.url!.replace(/:(\w+)/g, (_, name: string) => String(values[name]));
    // The host is that of PUBLIC_URL, never the client's.
    this.code(201).header('location', `${ctx.settings.publicUrl}${path}/${id}`);
    return item;
  });
}
