import type { Server } from 'node:net';

/** Starts work at once, or once the connections that have arrived are accepted. */
export type AcceptGate = (start: () => void) => void;

/** Bounds the wait while connections arrive without end. */
const maxTurns = 32;

/** Delays expensive work while each turn of the event loop accepts a connection, since it accepts one a turn. */
export function createAcceptGate(server: Server): AcceptGate {
  let waiting: (() => void)[] = [];
  let isOpen = true;
  let hasAccepted = false;
  let turns = 0;

  function endTurn() {
    turns += 1;
    if (hasAccepted && turns < maxTurns) {
      hasAccepted = false;
      setImmediate(endTurn);
      return;
    }
    isOpen = true;
    const released = waiting;
    waiting = [];
    for (const start of released) start();
  }

  server.on('connection', () => {
    hasAccepted = true;
    if (!isOpen) return;
    isOpen = false;
    turns = 0;
    setImmediate(endTurn);
  });
  return (start) => {
    if (isOpen) start();
    else waiting.push(start);
  };
}
