import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client that goes on sending may take to see that it was answered. */
const lingerMs = 2_000;

/**
 * Closes once the client has, or after a moment. A connection that is closed over bytes nobody read is cut, and an
 * answer on its way goes with it.
 */
export function closeGracefully(socket: Socket) {
  socket.destroySoon = () => {
    socket.end();
    const cut = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(cut));
  };
}

/**
 * When a connection has stood still for long: who has asked and waits is not cut off, since the answer will come; who
 * stalls while sending, or does not read, is.
 */
export function closeIdleSocket(this: ServerResponse, socket: Socket) {
  if (this.headersSent || !this.req.complete) socket.destroy();
}
