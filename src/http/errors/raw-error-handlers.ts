import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Problem } from '../../core/errors.ts';
import {
  formatBookingError,
  formatLegacyError,
  formatV2Error,
  toProblem,
  type ErrorFormatter,
} from './error-handler.ts';

const wordings: [RegExp, ErrorFormatter][] = [
  [/^\/(schools|courses)([/?]|$)/, formatLegacyError],
  [/^\/v2\/(booking|campaigns\/validate|vouchers\/validate)([/?]|$)/, formatBookingError],
];

/** In the words of the interface that an address names. */
const worded = (address: string, problem: Problem) =>
  (wordings.find(([path]) => path.test(address))?.[1] ?? formatV2Error)(problem);

/** A reply outside any route, such as to an address that cannot be decoded. */
export const handleFrameworkError = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
  const problem = toProblem(error, request);
  void reply.code(problem.status).header('x-request-id', request.id).send(worded(request.url, problem));
};

const problems: Record<string, [string, Problem]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    new Problem('headers_too_large', 'Request Header Fields Too Large'),
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', new Problem('invalid', 'Request Timeout')],
};
const noHttp: [string, Problem] = ['400 Bad Request', new Problem('invalid', 'Bad Request')];

/** What is no HTTP, or too large to be read, before there is a request to answer. */
export function handleClientError(
  this: unknown,
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
  const [status, problem] = problems[error.code ?? ''] ?? noHttp;
  // The bytes at fault begin with the request, unless it came in pieces.
  const begin = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1', 0, 100) : '';
  const [, address = ''] = /^[A-Z]+ (\S+)/.exec(begin) ?? [];
  const body = JSON.stringify(worded(address, problem));
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nx-request-id: ${randomUUID()}\r\nconnection: close\r\n\r\n${body}`,
  );
}
