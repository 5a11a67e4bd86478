import { IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one socket without a complete response; with one more the socket is destroyed. */
const maxOutstanding = 10;

const outstanding = Symbol('outstanding requests');
const waiting = Symbol('waiting requests');

type CountedSocket = Socket & { [outstanding]?: number; [waiting]?: Parameters<RequestListener>[] };

const countOutstanding = (socket: CountedSocket) => socket[outstanding] ?? 0;

/**
 * Counts the requests of a socket and destroys it above the limit. The request is an upgrade to the parser then, which
 * stops it: else it would parse the rest of its input too.
 */
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
 * Starts one request of a socket per turn of the event loop. Requests without a key start after all input of the turn
 * is parsed, so that those of a destroyed socket cost nothing.
 */
export function yieldBetweenRequests(server: Server) {
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const socket: CountedSocket = request.socket;
    if (countOutstanding(socket) === 1 && request.headers['x-api-key'] !== undefined) {
      handle(request, response);
      return;
    }
    const queue = (socket[waiting] ??= []);
    queue.push([request, response]);
    if (queue.length === 1) setImmediate(startNext, handle, socket, queue);
  });
}

function startNext(handle: RequestListener, socket: Socket, queue: Parameters<RequestListener>[]) {
  if (socket.destroyed) {
    queue.length = 0;
    return;
  }
  handle(...queue[0]!);
  queue.shift();
  if (queue.length > 0) setImmediate(startNext, handle, socket, queue);
}
