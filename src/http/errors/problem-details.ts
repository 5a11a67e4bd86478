import { Type, type Static } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CodedError, Problem } from '../../core/errors.ts';
import { ErrorCode, ProblemError, ProblemField, type CodedErrorBody } from '../../core/schema/problems.ts';
import { t } from '../../core/schema/types.ts';
import { prefersMediaType, addVary } from '../accept.ts';

export const problemMediaType = 'application/problem+json';

/** An error as of RFC 9457. */
export const ProblemDetails = t.NamedObject(
  'Problem',
  {
    type: Type.String({ description: 'Always `about:blank`: `code` says what went wrong' }),
    title: Type.String({ description: 'The text of the error' }),
    status: Type.Integer(),
    code: ErrorCode,
    instance: Type.String({ description: 'The request id, as in `X-Request-Id` and in the log' }),
    fields: Type.Optional(Type.Array(ProblemField, { description: 'The fields at fault, where there are any' })),
    conflicts_with: Type.Optional(Type.Integer({ description: 'Id of the item that is equal' })),
    errors: Type.Optional(
      Type.Array(ProblemError, {
        description: 'Every error of a booking, and that of a code that no status has alone',
      }),
    ),
  },
  {
    examples: [
      {
        type: 'about:blank',
        title: 'Missing field(s): gatherings[2].gathering_at. Field(s) not valid: timezone',
        status: 400,
        code: 'field_invalid',
        instance: '550e8400-e29b-41d4-a716-446655440000',
        fields: [
          { field: 'gatherings[2].gathering_at', code: 'missing' },
          { field: 'timezone', code: 'invalid' },
        ],
      },
    ],
  },
);

export const toProblemDetails = (problem: Problem, requestId: string): Static<typeof ProblemDetails> => ({
  ...{ type: 'about:blank', title: problem.message, status: problem.status },
  ...{ code: problem.codes[0]!, instance: requestId, ...toFaults(problem) },
  ...(problem.conflictsWith !== undefined && { conflicts_with: problem.conflictsWith }),
});

export const toCodedError = ({ code, message, participantId }: CodedError): Static<typeof CodedErrorBody> => ({
  ...{ code, message },
  ...(participantId !== undefined && { participant_id: participantId }),
});

/** The fields at fault, and each error with that which it is about. */
export function toFaults({ errors, missing, notValid, unknown }: Problem) {
  const invalid = new Set([...notValid, ...errors.flatMap(({ concerns }) => concerns ?? [])]);
  const fields = [
    ...missing.map((field) => ({ field, code: 'missing' as const })),
    ...[...invalid].map((field) => ({ field, code: 'invalid' as const })),
    ...unknown.map((field) => ({ field, code: 'unknown' as const })),
  ];
  const located = errors.map((error) => {
    const { concerns, field = concerns } = error;
    const [, place] = /^participants\[(\d+)\]/.exec(field ?? '') ?? [];
    return { ...toCodedError(error), ...(field && { field }), ...(place && { participant: Number(place) }) };
  });
  return { ...(fields.length > 0 && { fields }), ...(errors.length > 0 && { errors: located }) };
}

export const prefersProblemDetails = ({ headers }: FastifyRequest) =>
  prefersMediaType(headers.accept, problemMediaType);

/** True for the main interface, and for a request whose path cannot be read. */
export const hasErrorCode = (url: string) => /^(\/v2([/?]|$)|$)/.test(url);

/** Sets the code of an error of the main interface. Returns its body if the client prefers problem details. */
export function addErrorCode(problem: Problem, request: FastifyRequest, reply: FastifyReply): Buffer | undefined {
  if (!hasErrorCode(request.url)) return undefined;
  reply.header('x-error-code', problem.codes[0]);
  const exposed = reply.getHeader('access-control-expose-headers');
  if (exposed !== undefined) reply.header('access-control-expose-headers', `${String(exposed)}, X-Error-Code`);
  if (!prefersProblemDetails(request)) return undefined;
  addVary(reply, 'Accept').type(problemMediaType);
  // Bytes, since Fastify adds a charset to a text.
  return Buffer.from(JSON.stringify(toProblemDetails(problem, request.id)));
}
