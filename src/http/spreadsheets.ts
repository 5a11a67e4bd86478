import { Readable } from 'node:stream';
import type { TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'csv-stringify/sync';
import { toLoggableError } from '../core/database-errors.ts';
import { Problem } from '../core/errors.ts';
import { todayIn } from '../core/timestamps.ts';
import { getSchoolId, type Ctx } from '../database/context.ts';
import { getLimit, maxLimit } from '../lists/list-query.ts';
import type { Page, PageOptions } from '../lists/list-types.ts';
import { defineColumns, type Spreadsheet } from '../lists/spreadsheet.ts';
import { prefersMediaType, addVary } from './accept.ts';
import type { Services } from './auth/authenticate.ts';
import { waitForToken } from './auth/rate-limit.ts';
import { toProblem } from './errors/error-handler.ts';
import { runInSlot } from './list-cache/list-limiter.ts';
import { toPublicSchema } from './publishable/serializer.ts';
import { setNextPage, setSyncHeader } from './responses.ts';
import { getRoute } from './route-name.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Documents that the list is also sent as CSV. */
    hasSpreadsheet?: true;
  }
  interface FastifyInstance {
    /** Does before each further page what was done before the request: checks its key, and takes a token. */
    admitNextPage(request: FastifyRequest, signal: AbortSignal): Promise<void>;
  }
  interface FastifyRequest {
    /** Set where the list is sent as CSV; `isWhole` is true without `limit` and `page`. */
    spreadsheet: { isWhole: boolean } | null;
  }
}

type Query = CsvForm & { include?: string[]; limit?: number; format?: 'json' | 'csv' };
type Item = Record<string, unknown>;
export type ReadableList<Q> = {
  View: TObject;
  spreadsheet?: Spreadsheet | undefined;
  /** Passes its options on to the list for a spreadsheet, or each page would be the first. */
  page(ctx: Ctx, query: Q, options?: PageOptions): Promise<Page<Item>>;
};
type Hooks = { config: object; preHandler: object[] };

export function decorateSpreadsheets(app: FastifyInstance, { findKey, buckets, addressBuckets }: Services) {
  app.decorateRequest('spreadsheet', null);
  app.decorate('admitNextPage', async (request: FastifyRequest, signal: AbortSignal) => {
    const { ctx, headers, ip } = request;
    const ofAddress = ctx.publishableFor && [addressBuckets?.(request, 'read'), buckets(ctx.tenantQueueKey, request)];
    for (const bucket of [...(ofAddress ?? []), buckets(ctx.tenantQueueKey)])
      if (bucket) await waitForToken(bucket, signal);
    const key = await findKey(headers['x-api-key'], ip);
    if (!key || (ctx.publishableFor && !key.is_active)) throw new Problem('unauthenticated', 'Wrong API Key');
  });
}

/** The hooks of a list, with those that send it as CSV if it has a spreadsheet. */
export function withSpreadsheet<H extends Hooks>(list: ReadableList<never> | undefined, hooks: H) {
  const { spreadsheet } = list ?? {};
  if (!spreadsheet) return hooks;
  const sendIfCsv = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    if (!request.spreadsheet) {
      done();
      return;
    }
    sendCsv(request, reply, list as ReadableList<Query>, spreadsheet).catch((error: unknown) => {
      if (!reply.raw.destroyed) done(error as Error);
    });
  };
  return {
    ...hooks,
    config: { ...hooks.config, hasSpreadsheet: true as const },
    preValidation: negotiateFormat,
    preHandler: [sendIfCsv, ...hooks.preHandler],
  };
}

/** Runs in preValidation, since the validator adds the default of `limit`. */
function negotiateFormat(request: FastifyRequest, _reply: FastifyReply, done: () => void) {
  const { format, limit, page } = request.query as Record<string, unknown>;
  if (format === 'csv' || (format === undefined && prefersMediaType(request.headers.accept, 'text/csv')))
    request.spreadsheet = { isWhole: limit === undefined && page === undefined };
  done();
}

/** Errors before the first row are those of the list as JSON. */
async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  list: ReadableList<Query>,
  spreadsheet: Spreadsheet,
) {
  const { method, spreadsheet: state } = request;
  const { include = [], ...form } = request.query as Query;
  const pages = readPages(request, reply, list);
  const { value: first } = (await pages.next()) as { value: Page<Item> };
  const schema = request.ctx.publishableFor ? (toPublicSchema(list.View, getRoute(request)) as TObject) : list.View;
  const { names, toRows } = defineColumns(schema, spreadsheet, include);

  async function* write() {
    function* toTexts({ items }: Page<Item>) {
      const rows = items.flatMap(toRows);
      for (let from = 0; from < rows.length; from += rowsAtOnce) yield toCsv(rows.slice(from, from + rowsAtOnce), form);
    }
    try {
      yield toCsv([], form, names);
      yield* toTexts(first);
      for await (const page of pages) yield* toTexts(page);
    } catch (error) {
      logTruncated(request, reply, error);
      throw error;
    }
  }
  setSyncHeader(request, reply, first);
  if (!state!.isWhole) setNextPage(request, reply, first);
  setCsvHeaders(request, reply);
  return reply.send(method === 'HEAD' ? Readable.from([]) : Readable.from(write(), { objectMode: false }));
}

function setCsvHeaders({ ctx, routeOptions }: FastifyRequest, reply: FastifyReply) {
  const name = routeOptions.url!.split('/').at(-1)!;
  return addVary(reply, 'Accept')
    .header('content-disposition', `attachment; filename="${name}-${todayIn(ctx.settings.timezone)}.csv"`)
    .type('text/csv; charset=utf-8');
}

/** A route that sends an item as JSON, or its table as CSV. */
export const tableRoute = {
  hooks: { config: { hasSpreadsheet: true as const }, preValidation: negotiateFormat },
  send<T>(request: FastifyRequest, reply: FastifyReply, item: T, toRows: (item: T) => unknown[][]): T {
    if (!request.spreadsheet) return item;
    const [names, ...rows] = toRows(item);
    return setCsvHeaders(request, reply).send(toCsv(rows, request.query as Query, names)) as never;
  },
};

/** Rows repeat what their items share, so that a page may be many times as long as what was read for it. */
const rowsAtOnce = 50;

/** Reads pages as the client takes them, each in a slot of its own, after the last row of the one before. */
async function* readPages(request: FastifyRequest, reply: FastifyReply, list: ReadableList<Query>) {
  const { ctx, server, spreadsheet } = request;
  const query = request.query as Query;
  const closing = new AbortController();
  reply.raw.once('close', () => closing.abort());
  let left = spreadsheet!.isWhole ? Infinity : getLimit(query);
  for (let page: Page<Item> | undefined; page === undefined || (left > 0 && isUnfinished(page));) {
    if (page) await server.admitNextPage(request, closing.signal);
    const part = { ...query, limit: Math.min(left, maxLimit), ...(page && { page: 1 }) };
    const after = page?.lastKey;
    page = await runInSlot(
      request,
      () => list.page(ctx, part, { after }),
      (cancel) => (closing.signal.onabort = cancel),
    );
    yield page;
    left -= page.items.length;
  }

  function isUnfinished({ hasMore, isTruncated }: Page<Item>) {
    return spreadsheet!.isWhole ? hasMore : isTruncated;
  }
}

/** The connection is destroyed, so that the client notices. */
function logTruncated(request: FastifyRequest, reply: FastifyReply, error: unknown) {
  if (reply.raw.destroyed) return;
  const problem = toProblem(error as Error & { code: string; name: string }, request);
  request.log[problem.kind === 'internal' ? 'error' : 'warn'](
    { provider: getSchoolId(request.ctx), err: toLoggableError(problem.cause ?? problem) },
    `${getRoute(request)} ended before its last row`,
  );
}

/** `spreadsheet`: for a program that reads decimal commas, and would take texts for numbers and days. */
type CsvForm = { delimiter?: 'comma' | 'semicolon'; spreadsheet?: boolean };

/** Formats rows; `names`, the columns, come first at the start of the file. */
function toCsv(rows: unknown[][], { delimiter, spreadsheet = false }: CsvForm, names?: unknown[]) {
  const isSemicolon = delimiter === undefined ? spreadsheet : delimiter === 'semicolon';
  const write = (lines: unknown[][], cast: object, bom = false) =>
    stringify(lines, { ...lineFormat, delimiter: isSemicolon ? ';' : ',', cast, bom });
  const text = write(rows, spreadsheet ? spreadsheetCasts : casts);
  return names === undefined ? text : write([names], casts, true) + text;
}

const lineFormat = { record_delimiter: '\r\n', quote_record_delimiter: true };

/** Spreadsheets run what begins with one of these signs, also after blanks. */
const formula = /^(?:\s*[=+\-@＝＋－＠]|[\t\r])/;
const escapeFormula = (text: string) => (formula.test(text) ? `'${text}` : text);
const casts = { boolean: String, string: escapeFormula };

/** A text in a formula has at most 255 characters. */
const maxCell = 255;
const moment = /^(?:\d{4}-\d\d-\d\d(?:[T ]|$))?(?:\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:\d\d)?)?$/;
const isNumberLike = (text: string) =>
  /\p{N}/u.test(text) && text.length <= maxCell && !/\p{Cc}/u.test(text) && !moment.test(text);
const spreadsheetCasts = {
  ...casts,
  string: (text: string) => (isNumberLike(text) ? `="${text.replaceAll('"', '""')}"` : escapeFormula(text)),
  number: (value: number) => String(value).replace('.', ','),
};
