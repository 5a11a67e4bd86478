import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const lingerMs = 2_000;

/** Half-closes a socket, for 2 s: closing it with unread input sends a reset, and the client loses the response. */
export function closeGracefully(socket: Socket) {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Closes a timed-out socket unless its request is complete and the response has not started. */
export function closeIdleSocket(this: ServerResponse, socket: Socket) {
  if (this.headersSent || !this.req.complete) socket.destroy();
}
