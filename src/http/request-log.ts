import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../core/errors.ts';
import { findContext, getSchoolId } from '../database/context.ts';
import { getRoute, getRoutePattern } from './route-name.ts';

const pattern = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}/;

type Header = string | string[] | undefined;

/** The trace id of a W3C `traceparent` header; undefined without a valid one. */
function parseTraceId(traceparent: Header) {
  if (typeof traceparent !== 'string' || traceparent.length > 100 || traceparent.startsWith('ff')) return undefined;
  const [, traceId, parentId] = pattern.exec(traceparent) ?? [];
  return traceId === undefined || /^0+$/.test(traceId) || /^0+$/.test(parentId!) ? undefined : traceId;
}

/** The header for a call within the request: unchanged, or absent unless it is valid. */
export const propagateTraceparent = (traceparent: Header): { traceparent?: string } =>
  typeof traceparent !== 'string' || parseTraceId(traceparent) === undefined ? {} : { traceparent };

export type RequestLogMode = 'all' | 'errors' | 'off';

declare module 'fastify' {
  interface FastifyInstance {
    requestLog: RequestLogMode;
    /** Whether a refused request of the address gets a line in the log. */
    mayLogRefusal(address: string): boolean;
  }
}

/** Logs each response, or errors and aborted requests alone; never values, URLs, headers or bodies. */
export function logRequests(app: FastifyInstance, mode: RequestLogMode) {
  app.decorate('mayLogRefusal', mode === 'off' ? () => false : sampleRefusals(app));
  if (mode === 'off') return;
  const mayLog = ({ ip }: Partial<FastifyRequest>) => app.mayLogRefusal(ip ?? closedConnection);
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    if (statusCode < 400 ? mode === 'all' : !isRefused(request, statusCode) || mayLog(request)) logLine(request, reply);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    if (hasContext(request) || mayLog(request))
      request.log.info({ ...aboutRequest(request), aborted: true }, `${getRoute(request)} aborted`);
    done();
  });
}

/** Message of a request whose connection is closed. */
export const closedConnection = 'closed connection';

const hasContext = (request: Partial<FastifyRequest>) => request.ctx !== undefined;

/** Anyone can send such requests, without a key or beyond a limit. */
const isRefused = (request: FastifyRequest, status: number) => status === 429 || (status < 500 && !hasContext(request));

function logLine(request: FastifyRequest, reply: FastifyReply) {
  const { statusCode: status } = reply;
  // Set with the headers, where the body is no stream.
  const bytes = Number(reply.getHeader('content-length') ?? 0);
  request.log.info(
    {
      ...aboutRequest(request),
      ...{ status, ms: Math.round(reply.elapsedTime * 10) / 10, bytes },
      ...(request.problem && aboutProblem(request.problem)),
    },
    `${getRoute(request)} ${status}`,
  );
}

function aboutRequest(request: FastifyRequest) {
  const ctx = findContext(request);
  const trace = parseTraceId(request.headers['traceparent']);
  return {
    ...{ method: request.method, route: getRoutePattern(request), address: request.ip },
    ...(ctx && { provider: getSchoolId(ctx), key: ctx.key?.id }),
    ...(trace !== undefined && { trace }),
  };
}

const maxFields = 20;

function aboutProblem(problem: Problem) {
  const fields = [...problem.missing, ...problem.notValid, ...problem.unknown].filter(isName).slice(0, maxFields);
  return {
    code: problem.codes.slice(0, maxFields).join(','),
    ...(fields.length > 0 && { fields }),
    // A fixed text, such as that the body is not valid JSON; a server error has a line of its own.
    ...(fields.length === 0 && problem.errors.length === 0 && problem.status < 500 && { reason: problem.message }),
  };
}

/** Not a text of the client: names of members may be. */
const isName = (path: string) => /^[\w.[\]-]{1,64}$/.test(path);

/** Lines of one address within a minute. */
const maxLines = 10;
/** Beyond it addresses are counted as one, so that many of them fill neither the memory nor the log. */
const maxAddresses = 1_000;
const windowMs = 60_000;
const others = 'other addresses';

/** True for the first ten refused requests of an address and minute; the others are counted in one line. */
function sampleRefusals(app: FastifyInstance) {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const endWindow = () => {
    clearTimeout(timer);
    for (const [address, count] of counts) {
      const unlogged = count - maxLines;
      if (unlogged > 0) app.log.info({ address, count: unlogged }, `${unlogged} more requests refused in a minute`);
    }
    counts.clear();
  };
  app.addHook('onClose', async () => endWindow());

  return (address: string) => {
    if (counts.size === 0) timer = setTimeout(endWindow, windowMs).unref();
    const name = counts.has(address) || counts.size < maxAddresses ? address : others;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count <= maxLines;
  };
}
