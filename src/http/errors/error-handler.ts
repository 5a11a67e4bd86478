import type { TSchema } from '@sinclair/typebox';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { kindCodes } from '../../core/error-codes.ts';
import { toFieldsProblem } from '../../core/schema/validator.ts';
import { findContext, getSchoolId } from '../../database/context.ts';
import { Problem, type ProblemKind } from '../../core/errors.ts';
import { toLoggableError, classifyError } from '../../core/database-errors.ts';
import { unavailableHints, unavailableReason } from '../../database/describe-error.ts';
import { closeGracefully } from '../idle-sockets.ts';
import { getRoute } from '../route-name.ts';
import { addErrorCode, toCodedError } from './problem-details.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that was sent, for the log and the metrics. */
    problem: Problem | null;
  }
  interface FastifyContextConfig {
    /** The metrics count the error codes of refused requests. */
    countsRefusals?: boolean;
  }
  interface FastifyInstance {
    /** The formats of the interfaces that have another one than v2, by their paths. */
    errorFormats: { paths: RegExp; format: ErrorFormatter }[];
  }
}

/** Formats an error as the JSON body of an interface. */
export type ErrorFormatter = (problem: Problem) => Record<string, unknown>;
/** Formats an error as an HTML page, or as a body that depends on the request. */
export type PageErrorFormatter = (
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
) => string | Record<string, unknown>;

/** Maps every error to a `Problem`, logs it and sends it in the format of the interface. */
export function setErrorFormat(app: FastifyInstance, format: ErrorFormatter | PageErrorFormatter) {
  app.setErrorHandler<FastifyError | Problem>((error, request, reply) => sendError(error, request, reply, format));
}

export function sendError(
  error: FastifyError | Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  format: ErrorFormatter | PageErrorFormatter,
) {
  const problem = reportProblem(error, request);
  request.problem = problem;
  if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
  if (problem.kind === 'too_large') {
    reply.header('connection', 'close');
    closeGracefully(request.raw.socket);
  }
  reply.removeHeader('etag').removeHeader('x-updated-through').removeHeader('content-type').code(problem.status);
  return reply.send(addErrorCode(problem, request, reply) ?? format(problem, request, reply));
}

/** `setErrorFormat`, for requests below the prefix that reach no route, too. */
export function registerErrorHandler(app: FastifyInstance, format: ErrorFormatter | PageErrorFormatter) {
  setErrorFormat(app, format);
  app.setNotFoundHandler(() => {
    throw new Problem('not_found', 'There is nothing at this path');
  });
}

/** `registerErrorHandler` that also formats the errors of requests below the prefix that reach no route. */
export function registerErrorFormat(app: FastifyInstance, format: ErrorFormatter) {
  registerErrorHandler(app, format);
  const paths = new RegExp(`^${app.prefix.replaceAll(/:\w+/g, '[^/]+')}(/|$)`);
  app.errorFormats.push({ paths, format });
}

/** Logs an error, and returns the problem to send. */
export function reportProblem(error: FastifyError | Problem, request: FastifyRequest): Problem {
  const problem = withRequestId(toProblem(error, request), request.id);
  logProblem(problem, request);
  return problem;
}

/** Logs server errors, and values that only the database rejected. */
function logProblem(problem: Problem, request: FastifyRequest) {
  const { kind, cause } = problem;
  const ctx = findContext(request);
  const by = ctx && { provider: getSchoolId(ctx) };
  if (kind === 'internal')
    request.log.error({ ...by, err: toLoggableError(cause ?? problem) }, `${getRoute(request)} failed`);
  if (kind === 'unavailable') {
    const reason = unavailableReason(problem);
    const hint = unavailableHints[reason];
    request.log.warn({ ...by, err: toLoggableError(cause), reason, hint }, `${getRoute(request)} is unavailable`);
  }
  if (classifyError(cause)?.kind === 'input')
    request.log.warn({ ...by, err: toLoggableError(cause) }, `${getRoute(request)} was rejected by the database`);
}

export const formatV2Error: ErrorFormatter = ({ kind, message }) =>
  kind === 'gone' ? { error: message, code: kindCodes.gone } : { error: message };

export const formatLegacyError: ErrorFormatter = ({ kind, message }) =>
  kind === 'unauthenticated' ? { status: 'failure', message } : { status: 'failure', error: message };

/** All errors with a code each, as the booking endpoints respond. */
export const formatCodedError: ErrorFormatter = ({ kind, message, errors }) => ({
  successful: false,
  errors: errors.length > 0 ? errors.map(toCodedError) : [{ code: kindCodes[kind], message }],
  error: message,
});
export const registerCodedErrorFormat = (app: FastifyInstance) => registerErrorFormat(app, formatCodedError);

export function toProblem(error: FastifyError | Problem, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (error.validation) return toFieldErrors(error, request);

  const failure = classifyError(error);
  if (failure?.kind === 'input') return new Problem('invalid', 'A value is out of range', { cause: error });
  if (failure?.kind === 'retry') return Problem.unavailable('Too many changes at once, please try again', error);
  if (failure?.kind === 'unavailable')
    return Problem.unavailable('The service is busy or its database out of reach', error);
  const kind = failure ? undefined : kindByStatus[error.statusCode ?? 500];
  // A library's message of a 5xx may contain paths or SQL, so it is only logged.
  return kind
    ? new Problem(kind, messageByKind[kind] ?? 'The request could not be read', { cause: error })
    : new Problem('internal', 'Something went wrong', { cause: error });
}

const kindByStatus: Partial<Record<number, ProblemKind>> = {
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
const messageByKind: Partial<Record<ProblemKind, string>> = {
  invalid: 'The request could not be read',
  not_found: 'There is nothing at this path',
  too_large: 'The body is too large',
  unsupported_media_type: 'The Content-Type is not supported; send a form, multipart or JSON',
  unavailable: 'The service is busy',
};

type FieldsSchema = { properties?: Record<string, TSchema> };

function toFieldErrors({ validation = [], validationContext }: FastifyError, request: FastifyRequest): Problem {
  // An invalid id cannot belong to any item.
  if (validationContext === 'params') return new Problem('not_found', 'There is nothing at this path');
  const isBody = validationContext === 'body';
  const { body, querystring } = (request.routeOptions.schema ?? {}) as Record<string, FieldsSchema | undefined>;
  const schema = isBody ? body : querystring;
  const fields = (isBody ? request.body : request.query) as Record<string, unknown>;
  const problem = toFieldsProblem(validation, schema?.properties ?? {}, fields);
  const { missing, notValid, unknown, errors, message } = problem;
  if (isBody || !notValid.includes('include')) return problem;
  const supported = (schema?.properties?.['include']?.['items'] as { enum: string[] }).enum.join(', ');
  const details = { missing, notValid, unknown, errors };
  return new Problem('invalid', `${message}. Supported values of include: ${supported}`, details);
}

/** Appends the request id to server errors, so that the log entry can be found. */
function withRequestId(problem: Problem, requestId: string) {
  if (problem.status < 500) return problem;
  const message = `${problem.message} (request ${requestId})`;
  const { kind, retryAfter, cause } = problem;
  return new Problem(kind, message, { ...(retryAfter === undefined ? {} : { retryAfter }), cause });
}
