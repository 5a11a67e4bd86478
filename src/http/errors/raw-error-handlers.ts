import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Problem } from '../../core/errors.ts';
import { closedConnection } from '../request-log.ts';
import { formatV2Error, toProblem } from './error-handler.ts';
import { addErrorCode, hasErrorCode } from './problem-details.ts';

/** Formats an error for the interface that the URL belongs to. */
function formatByUrl({ errorFormats }: FastifyInstance, url: string, problem: Problem) {
  const [path = ''] = url.split('?');
  const found = errorFormats.find(({ paths }) => paths.test(path));
  return (found?.format ?? formatV2Error)(problem);
}

/** Responds to errors outside any route, such as an undecodable URL; `limit` refuses the request first. */
export const createFrameworkErrorHandler =
  (hsts: string | undefined, limit: (request: FastifyRequest) => Promise<void>) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const respond = (reason: FastifyError | Problem) => {
      const problem = toProblem(reason, request);
      request.problem = problem;
      if (hsts !== undefined) reply.header('strict-transport-security', hsts);
      if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
      void reply
        .code(problem.status)
        .header('x-request-id', request.id)
        .send(addErrorCode(problem, request, reply) ?? formatByUrl(request.server, request.url, problem));
    };
    limit(request).then(() => respond(error), respond);
  };

const parserErrors: Record<string, [string, Problem]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    new Problem('headers_too_large', 'Request Header Fields Too Large'),
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', new Problem('invalid', 'Request Timeout')],
};
const badRequest: [string, Problem] = ['400 Bad Request', new Problem('invalid', 'Bad Request')];

type ClientError = Error & { code?: string; rawPacket?: unknown };

/** Responds to errors of Node's HTTP parser, before there is a request object. */
export const createClientErrorHandler = (hsts: string | undefined) =>
  function handleClientError(this: FastifyInstance, error: ClientError, socket: Socket) {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    const [status, problem] = parserErrors[error.code ?? ''] ?? badRequest;
    // rawPacket starts with the request line if the request came in one packet.
    const start = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1', 0, 100) : '';
    const [, url = ''] = /^[A-Z]+ (\S+)/.exec(start) ?? [];
    const body = JSON.stringify(formatByUrl(this, url, problem));
    const codeLine = hasErrorCode(url) ? `x-error-code: ${problem.codes[0]}\r\n` : '';
    const hstsLine = hsts === undefined ? '' : `strict-transport-security: ${hsts}\r\n`;
    const reqId = randomUUID();
    if (this.mayLogRefusal(socket.remoteAddress ?? closedConnection))
      this.log.info(
        { reqId, address: socket.remoteAddress, status: problem.status, cause: error.code },
        'unreadable request',
      );
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nx-request-id: ${reqId}\r\n${codeLine}${hstsLine}connection: close\r\n\r\n${body}`,
    );
  };
