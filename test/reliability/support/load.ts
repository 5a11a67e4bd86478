import { pause } from '../scenario.ts';
import type { HttpResponse } from './client.ts';

/** A response and when its request was sent, as performance.now(). */
export type TimedResponse = HttpResponse & { sentAt: number };

/**
 * Sends requests at a fixed rate for a time or until stopped, regardless of pending ones; resolves with all responses.
 */
export async function sendAtRate(
  perSecond: number,
  duration: number | AbortSignal,
  send: (n: number) => Promise<HttpResponse>,
): Promise<TimedResponse[]> {
  const isOver = () => (typeof duration === 'number' ? performance.now() - startedAt >= duration : duration.aborted);
  const startedAt = performance.now();
  const pending: Promise<TimedResponse>[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const delay = (n * 1_000) / perSecond - (performance.now() - startedAt);
    if (delay > 1) await pause(delay);
    const sentAt = performance.now();
    pending.push(send(n).then((response) => ({ ...response, sentAt })));
  }
  return Promise.all(pending);
}

/** Responses per status, with the reason where there was none: `0 (socket hang up): 1, 200: 12, 503: 3`. */
export function countStatuses(responses: HttpResponse[]) {
  const counts = new Map<string, number>();
  for (const { status, text } of responses) {
    const name = status === 0 ? `0 (${text})` : String(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => parseInt(a) - parseInt(b))
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}

export const maxElapsed = (responses: HttpResponse[]) =>
  Math.round(Math.max(0, ...responses.map(({ elapsed }) => elapsed)));
