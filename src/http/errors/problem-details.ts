import { Type, type Static } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorCodes } from '../../core/error-codes.ts';
import type { Problem } from '../../core/errors.ts';
import { t } from '../../core/schema/types.ts';
import { prefersMediaType } from '../accept.ts';
import { addVary } from '../vary.ts';

export const problemMediaType = 'application/problem+json';

const ErrorCode = t.named('ErrorCode', t.OneOf(errorCodes, { description: 'What went wrong' }));

export const CodedErrorBody = t.NamedObject('CodedError', { code: ErrorCode, message: Type.String() });

const ProblemField = t.NamedObject('ProblemField', {
  field: Type.String({ description: 'Path of a field or parameter' }),
  code: t.OneOf(['missing', 'invalid', 'unknown']),
});

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
    errors: Type.Optional(
      Type.Array(CodedErrorBody, {
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

export function toProblemDetails(problem: Problem, requestId: string): Static<typeof ProblemDetails> {
  const { codes, errors, message, missing, notValid, unknown, status } = problem;
  const fields = [
    ...missing.map((field) => ({ field, code: 'missing' as const })),
    ...notValid.map((field) => ({ field, code: 'invalid' as const })),
    ...unknown.map((field) => ({ field, code: 'unknown' as const })),
  ];
  return {
    ...{ type: 'about:blank', title: message, status, code: codes[0]!, instance: requestId },
    ...(fields.length > 0 && { fields }),
    ...(errors.length > 0 && { errors: errors.map(({ code, message }) => ({ code, message })) }),
  };
}

/** True for the main interface, and for a request whose path cannot be read. */
export const hasErrorCode = (url: string) => /^(\/v2([/?]|$)|$)/.test(url);

/** Sets the code of an error of the main interface. Returns its body if the client prefers problem details. */
export function addErrorCode(problem: Problem, request: FastifyRequest, reply: FastifyReply): Buffer | undefined {
  if (!hasErrorCode(request.url)) return undefined;
  reply.header('x-error-code', problem.codes[0]);
  const exposed = reply.getHeader('access-control-expose-headers');
  if (exposed !== undefined) reply.header('access-control-expose-headers', `${String(exposed)}, X-Error-Code`);
  if (!prefersMediaType(request.headers.accept, problemMediaType)) return undefined;
  addVary(reply, 'Accept').type(problemMediaType);
  // Bytes, since Fastify adds a charset to a text.
  return Buffer.from(JSON.stringify(toProblemDetails(problem, request.id)));
}
