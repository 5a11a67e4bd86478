import { toLocation } from './dates.ts';
import type { Run } from './runs.ts';

const confirmed = 1;
const overbooked = 2;
const waiting = 3;
const unconfirmed = 7;
/** Requested status by the letter in a run's orders. */
const requestedStatus: Record<string, number> = { s: confirmed, n: confirmed, u: unconfirmed, d: 4, f: 8 };

/** Assigns a run's seats in order, as bookings do: confirmed, then overbooked, then waiting list. Returns the status. */
export function createSeatAssigner(run: Run): (letter: string) => number {
  const location = toLocation(run);
  const capacity = (name: string) => Number(run.fields[name] ?? location[name] ?? 0);
  const places: [status: number, left: number][] = [
    [confirmed, capacity('capacity_max') || Infinity],
    [overbooked, capacity('capacity_overbook')],
    [waiting, capacity('capacity_wait')],
  ];
  return (letter) => {
    const requested = requestedStatus[letter]!;
    if (requested !== confirmed && requested !== unconfirmed) return requested;
    const place = places.find(([, left]) => left > 0);
    if (place === undefined) throw new Error(`The run ${run.ref} has more participants than places`);
    place[1] -= 1;
    return place[0] === confirmed ? requested : place[0];
  };
}
