import { getLocation } from './dates.ts';
import type { Run } from './runs.ts';

/** The statuses of a participant. */
const confirmed = 1;
const overbooked = 2;
const waiting = 3;
const unconfirmed = 7;
/** By the letter of a run's orders. */
const asked: Record<string, number> = { s: confirmed, n: confirmed, u: unconfirmed, d: 4, f: 8 };

/**
 * Hands out the seats of a run in the order in which they are asked for, as booking does: a free one, else one beyond
 * the capacity, else a place on the waiting list. So nobody waits while a seat is free. Answers the status each gets.
 */
export function getSeats(run: Run): (letter: string) => number {
  const location = getLocation(run);
  const capacity = (name: string) => Number(run.fields[name] ?? location[name] ?? 0);
  const places: [status: number, left: number][] = [
    [confirmed, capacity('capacity_max') || Infinity],
    [overbooked, capacity('capacity_overbook')],
    [waiting, capacity('capacity_wait')],
  ];
  return (letter) => {
    const wanted = asked[letter]!;
    if (wanted !== confirmed && wanted !== unconfirmed) return wanted;
    const place = places.find(([, left]) => left > 0);
    if (place === undefined) throw new Error(`The run ${run.ref} has more participants than places`);
    place[1] -= 1;
    return place[0] === confirmed ? wanted : place[0];
  };
}
