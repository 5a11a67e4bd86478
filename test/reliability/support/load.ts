import { pause } from '../row.ts';
import type { Answer } from './client.ts';

/** An answer, and when it was asked for, as performance.now(). */
export type Told = Answer & { asked: number };

/** Asks so many times a second, for so long or until told, whatever becomes of those before; all answers, once they are there. */
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

/** How many there were of each status, and why there was none: `0 (socket hang up): 1, 200: 12, 503: 3`. */
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
