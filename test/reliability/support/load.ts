import { pause } from '../row.ts';
import type { Answer } from './client.ts';

/** A response and when its request was sent, as performance.now(). */
export type Told = Answer & { asked: number };

/**
 * Sends requests at a fixed rate for a time or until stopped, regardless of pending ones; resolves with all responses.
 */
export async function steadily(
  perSecond: number,
  lasting: number | AbortSignal,
  ask: (n: number) => Promise<Answer>,
): Promise<Told[]> {
  const isOver = () => (typeof lasting === 'number' ? performance.now() - begun >= lasting : lasting.aborted);
  const begun = performance.now();
  const asked: Promise<Told>[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const ahead = (n * 1_000) / perSecond - (performance.now() - begun);
    if (ahead > 1) await pause(ahead);
    const at = performance.now();
    asked.push(ask(n).then((answer) => ({ ...answer, asked: at })));
  }
  return Promise.all(asked);
}

/** Responses per status, with the reason where there was none: `0 (socket hang up): 1, 200: 12, 503: 3`. */
export function statusesOf(answers: Answer[]) {
  const counts = new Map<string, number>();
  for (const { status, text } of answers) {
    const name = status === 0 ? `0 (${text})` : String(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => parseInt(a) - parseInt(b))
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}

export const longest = (answers: Answer[]) => Math.round(Math.max(0, ...answers.map(({ took }) => took)));
