import { createHash } from 'node:crypto';
import { pause } from '../../reliability/scenario.ts';
import type { School } from '../../reliability/support/school.ts';
import type { Writers } from '../../reliability/support/writers.ts';

export type SeatWatch = {
  /** Responses with a list, and those that were not modified. */
  reads: number;
  /** Older than a booking that was acknowledged before the request. */
  stale: string[];
  /** Lists that differ under one ETag. */
  ambiguous: string[];
  failed: string[];
  stop(): Promise<void>;
};

type Date = { seats: { booking_status: { num_confirmed: number } } };

/** Reads the seats of each school's dates again and again, by ETag, and compares them with what was acknowledged. */
export function watchSeats(schools: School[], base: string, writers: Writers, before: Writers[]): SeatWatch {
  const stopped = new AbortController();
  const watch: Omit<SeatWatch, 'stop'> = { reads: 0, stale: [], ambiguous: [], failed: [] };
  const bodies = new Map<string, { hash: string; seats: number }>();
  const acknowledgedSeats = (school: School) =>
    [...before, writers].reduce((sum, { written }) => sum + countSeats(written.bookings, school), 0);

  const read = async (school: School) => {
    let etag: string | undefined;
    while (!stopped.signal.aborted) {
      const atLeast = acknowledgedSeats(school);
      const headers: Record<string, string> = etag ? { 'if-none-match': etag } : {};
      const url = `${base}/v2/coursedates?course_id=${school.courseId}`;
      const response = await school.client.get(url, { headers, timeoutMs: 12_000 });
      let seats: number | undefined;
      if (response.status === 200) {
        const { items } = JSON.parse(response.text) as { items: Date[] };
        seats = items.reduce((sum, date) => sum + date.seats.booking_status.num_confirmed, 0);
        etag = response.headers.etag!;
        const name = `${school.id} ${etag}`;
        const hash = createHash('sha256').update(response.text).digest('hex');
        if ((bodies.get(name)?.hash ?? hash) !== hash) watch.ambiguous.push(name);
        bodies.set(name, { hash, seats });
      } else if (response.status === 304) {
        seats = bodies.get(`${school.id} ${etag}`)!.seats;
      } else watch.failed.push(`${response.status} ${response.text.slice(0, 100)}`);
      if (seats !== undefined) watch.reads += 1;
      if (seats !== undefined && seats < atLeast) watch.stale.push(`${response.status}: ${seats} of ${atLeast} seats`);
      await pause(100);
    }
  };
  const all = Promise.all(schools.map(read));
  return Object.assign(watch, {
    stop: async () => {
      stopped.abort();
      await all;
    },
  });
}

function countSeats(bookings: Writers['written']['bookings'], school: School) {
  let seats = 0;
  for (const booking of bookings)
    if (booking.school === school) seats += booking.acknowledged?.participants.length ?? 0;
  return seats;
}
