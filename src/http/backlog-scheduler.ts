import type { Server } from 'node:net';

/** Starts work at once, or once the backlog of connections that have arrived is accepted. */
export type BacklogScheduler = (start: () => void) => void;

/** Bounds the wait while connections arrive without end. */
const maxTurns = 32;

/** Delays expensive work while each turn of the event loop accepts a connection, since it accepts one a turn. */
export function createBacklogScheduler(server: Server): BacklogScheduler {
  let waiting: (() => void)[] = [];
  let isDrained = true;
  let hasAccepted = false;
  let turns = 0;

  function endTurn() {
    turns += 1;
    if (hasAccepted && turns < maxTurns) {
      hasAccepted = false;
      setImmediate(endTurn);
      return;
    }
    isDrained = true;
    const released = waiting;
    waiting = [];
    for (const start of released) start();
  }

  server.on('connection', () => {
    hasAccepted = true;
    if (!isDrained) return;
    isDrained = false;
    turns = 0;
    setImmediate(endTurn);
  });
  return (start) => {
    if (isDrained) start();
    else waiting.push(start);
  };
}
