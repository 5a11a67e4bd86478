import type { TSchema } from '@sinclair/typebox';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { faultyFields } from '../../schema/validator.ts';
import { Problem, unavailable, type ProblemKind } from '../../core/errors.ts';
import { describe, getFailure } from '../../database/errors.ts';
import { closeGracefully } from '../idle-sockets.ts';

/** How an interface words what went wrong. */
export type ErrorFormatter = (problem: Problem) => Record<string, unknown>;
/** The same for people: a page, in the words of who asked. */
export type PageErrorFormatter = (problem: Problem, request: FastifyRequest, reply: FastifyReply) => string;

/** One classification of what went wrong for all interfaces; each only says how it reads. */
export function registerErrorHandler(app: FastifyInstance, word: ErrorFormatter | PageErrorFormatter) {
  const getProblem = (error: unknown, request: FastifyRequest) =>
    withRequestId(toProblem(error as FastifyError | Problem, request), request.id);
  const answer = (problem: Problem, request: FastifyRequest, reply: FastifyReply) => {
    tell(problem, request);
    if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
    if (problem.kind === 'too_large') {
      reply.header('connection', 'close');
      closeGracefully(request.raw.socket);
    }
    reply.removeHeader('etag').removeHeader('x-updated-through').removeHeader('content-type').code(problem.status);
    return reply.send(word(problem, request, reply));
  };
  app.setErrorHandler<FastifyError | Problem>((error, request, reply) => {
    return answer(getProblem(error, request), request, reply);
  });
  app.setNotFoundHandler(() => {
    throw new Problem('not_found', 'There is nothing at this path');
  });
}

/** Logs what is to be looked into. */
function tell(problem: Problem, request: FastifyRequest) {
  const { kind, cause } = problem;
  if (kind === 'internal') request.log.error({ err: describe(cause ?? problem) }, `${getRoute(request)} failed`);
  if (kind === 'unavailable') request.log.warn({ err: describe(cause) }, `${getRoute(request)} is unavailable`);
  if (getFailure(cause)?.kind === 'input')
    request.log.warn({ err: describe(cause) }, `${getRoute(request)} was refused by the database`);
}

/** Logs name the route, never the address: it may hold a token. */
export const getRoute = (request: FastifyRequest) =>
  `${request.method} ${request.routeOptions.url ?? 'an unknown path'}`;

/** Main interface: one text. */
export const formatV2Error: ErrorFormatter = ({ message }) => ({ error: message });

/** Older interface: an envelope with a status; a wrong key is told under a name of its own. */
export const formatLegacyError: ErrorFormatter = ({ kind, message }) =>
  kind === 'unauthenticated' ? { status: 'failure', message } : { status: 'failure', error: message };

/** The booking endpoints: everything that is wrong, each with a code. */
export const formatBookingError: ErrorFormatter = ({ kind, message, faults }) => ({
  successful: false,
  errors: faults.length > 0 ? faults : [{ code: getErrorCode[kind], message }],
  error: message,
});
const getErrorCode: Record<ProblemKind, string> = {
  invalid: 'field_invalid',
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  not_found: 'resource_not_found',
  method_not_allowed: 'method_not_allowed',
  too_large: 'body_too_large',
  unsupported_media_type: 'content_type_not_supported',
  too_many_requests: 'too_many_requests',
  headers_too_large: 'headers_too_large',
  internal: 'internal_error',
  unavailable: 'service_unavailable',
};

export function toProblem(error: FastifyError | Problem, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (error.validation) return fieldsAtFault(error, request);

  const failure = getFailure(error);
  if (failure?.kind === 'input') return new Problem('invalid', 'A value is out of range', { cause: error });
  if (failure?.kind === 'retry') return unavailable('Too many changes at once, please try again', error);
  if (failure?.kind === 'unavailable') return unavailable('The service is busy or its database out of reach', error);
  const kind = failure ? undefined : getKind[error.statusCode ?? 500];
  // What a library says of a 5xx may name paths or hold SQL: it stays in the log.
  return kind
    ? new Problem(kind, getSaying[kind] ?? 'The request could not be read', { cause: error })
    : new Problem('internal', 'Something went wrong', { cause: error });
}

const getKind: Partial<Record<number, ProblemKind>> = {
  400: 'invalid',
  403: 'not_found',
  404: 'not_found',
  406: 'invalid',
  408: 'invalid',
  413: 'too_large',
  414: 'invalid',
  415: 'unsupported_media_type',
  422: 'invalid',
  429: 'too_many_requests',
  431: 'headers_too_large',
  503: 'unavailable',
};
const getSaying: Partial<Record<ProblemKind, string>> = {
  invalid: 'The request could not be read',
  not_found: 'There is nothing at this path',
  too_large: 'The body is too large',
  unsupported_media_type: 'The Content-Type is not supported; send a form, multipart or JSON',
  unavailable: 'The service is busy',
};

type FieldsSchema = { properties?: Record<string, TSchema> };

/** Names the fields that the validator refused, in the order of the document. */
function fieldsAtFault({ validation = [], validationContext }: FastifyError, request: FastifyRequest): Problem {
  // An id that can be none's names nothing.
  if (validationContext === 'params') return new Problem('not_found', 'There is nothing at this path');
  const isBody = validationContext === 'body';
  const { body, querystring } = (request.routeOptions.schema ?? {}) as Record<string, FieldsSchema | undefined>;
  const schema = isBody ? body : querystring;
  const fields = (isBody ? request.body : request.query) as Record<string, unknown>;
  const problem = faultyFields(validation, Object.keys(schema?.properties ?? {}), fields);
  if (!problem.notValid.includes('include')) return problem;

  const supported = (schema?.properties?.['include']?.['items'] as { enum: string[] }).enum.join(', ');
  const { missing: missed, notValid: refused, message } = problem;
  return new Problem('invalid', `${message}. Supported values of include: ${supported}`, {
    missing: missed,
    notValid: refused,
  });
}

/** What is our fault carries the id under which the log has the rest. */
function withRequestId(problem: Problem, requestId: string) {
  if (problem.status < 500) return problem;
  const message = `${problem.message} (request ${requestId})`;
  const { kind, retryAfter, cause } = problem;
  return new Problem(kind, message, { ...(retryAfter === undefined ? {} : { retryAfter }), cause });
}
