import type { Socket } from 'node:net';

/** How long a client that goes on sending may take to see that it was answered. */
const lingerMs = 2_000;

/**
 * Closes once the client has, or after a moment. A connection that is closed over bytes nobody read is cut, and an
 * answer on its way goes with it.
 */
export function closeGently(socket: Socket) {
  socket.destroySoon = () => {
    socket.end();
    const cut = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(cut));
  };
}
