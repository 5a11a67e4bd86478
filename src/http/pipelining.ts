import { IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { KeyLookup } from './auth/key-lookup.ts';

/** Requests of one socket without a complete response; with one more the socket is destroyed. */
const maxOutstanding = 10;

const outstanding = Symbol('outstanding requests');
const waiting = Symbol('waiting requests');

type CountedSocket = Socket & { [outstanding]?: number; [waiting]?: Queue };
type Queue = { socket: Socket; requests: Parameters<RequestListener>[] };

const countOutstanding = (socket: CountedSocket) => socket[outstanding] ?? 0;

/** Destroys a socket with too many requests; as an upgrade, the request stops the parser, too. */
class CountedRequest extends IncomingMessage {
  declare private isUpgrade: boolean;
  private readonly isAboveLimit: boolean;

  constructor(socket: CountedSocket) {
    super(socket);
    socket[outstanding] = countOutstanding(socket) + 1;
    this.isAboveLimit = socket[outstanding] > maxOutstanding;
    if (this.isAboveLimit) socket.destroy();
  }

  /** Set by the base class and the parser. */
  get upgrade() {
    return this.isUpgrade || this.isAboveLimit;
  }
  set upgrade(isUpgrade: boolean) {
    this.isUpgrade = isUpgrade;
  }
}

class CountedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  /** Called once the response is sent. */
  override detachSocket(socket: CountedSocket) {
    super.detachSocket(socket);
    socket[outstanding] = countOutstanding(socket) - 1;
  }
}

/** Options of a server that destroys sockets with too many pipelined requests. */
export const countedMessages = { IncomingMessage: CountedRequest, ServerResponse: CountedResponse };

/**
 * Starts requests without a known key, and those behind another one of their socket, one per turn of the event loop:
 * one request of each socket in turn. They start after all input of the turn is parsed, so those of a destroyed socket
 * cost nothing.
 */
export function yieldBetweenRequests(server: Server, isKnownKey: KeyLookup['isKnown']) {
  const [handle] = server.listeners('request') as [RequestListener];
  const queues: Queue[] = [];

  function startNext() {
    const queue = queues.shift()!;
    const next = queue.socket.destroyed ? undefined : queue.requests.shift();
    if (next && queue.requests.length > 0) queues.push(queue);
    if (queues.length > 0) setImmediate(startNext);
    if (next) handle(...next);
  }

  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const socket: CountedSocket = request.socket;
    if (countOutstanding(socket) === 1 && isKnownKey(request.headers['x-api-key'])) {
      handle(request, response);
      return;
    }
    const queue = (socket[waiting] ??= { socket, requests: [] });
    if (queue.requests.push([request, response]) > 1) return;
    if (queues.push(queue) === 1) setImmediate(startNext);
  });
}
