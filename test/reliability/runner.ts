import type { Outcome, Run } from './scenario.ts';
import { loggedErrors } from './support/secrets.ts';

export type Result = {
  number: string;
  name: string;
  state: 'passed' | 'failed' | 'skipped';
  text: string;
  seconds: number;
};

/** Runs scenarios, and prints a line for each. */
export function createRunner(options: Pick<Run, 'quick' | 'minutes' | 'seed'>) {
  const cleanups: (() => unknown)[] = [];
  const results: Result[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void endBy(signal));

  async function run(work: (run: Run) => Promise<Outcome>): Promise<Omit<Result, 'number' | 'name'>> {
    const startedAt = performance.now();
    const onCleanup: Run['onCleanup'] = (cleanup) => void cleanups.unshift(cleanup);
    const outcome = await work({ ...options, random: seededRandom(options.seed), onCleanup }).catch(toFailure);
    return { ...toResult(outcome), seconds: Math.round(performance.now() - startedAt) / 1_000 };
  }

  /** Ends and removes what has been started after the first ones; returns the errors. */
  async function cleanUp(kept = 0) {
    const errors: string[] = [];
    while (cleanups.length > kept) {
      try {
        await cleanups.shift()!();
      } catch (error) {
        errors.push(String(error));
      }
    }
    return errors;
  }

  async function endBy(signal: NodeJS.Signals) {
    await cleanUp();
    process.kill(process.pid, signal);
  }

  function report(result: Result) {
    results.push(result);
    const { state, number, name, seconds, text } = result;
    const mark = { passed: '✓', failed: '✗', skipped: '-' }[state];
    console.log(`${mark} ${number} ${name} (${seconds} s, seed ${options.seed}): ${text}`);
    if (state === 'failed') for (const line of loggedErrors()) console.log(line);
  }

  return {
    results,
    report,
    /** Runs, and cleans up what that has started. */
    runAlone: (work: (run: Run) => Promise<Outcome>) =>
      run(async (one) => {
        const kept = cleanups.length;
        const outcome = await work(one).catch(toFailure);
        outcome.failures.push(...(await cleanUp(kept)));
        return outcome;
      }),
    count() {
      const of = (state: string) => results.filter((result) => result.state === state).length;
      return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
    },
  };
}

/** The last line of a run. */
export const describeCounts = ({ passed, failed, skipped }: { passed: number; failed: number; skipped: number }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

const toFailure = (error: unknown): Outcome => ({
  figures: 'aborted',
  failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
});

export function toResult({ figures, failures, skipped }: Outcome): Pick<Result, 'state' | 'text'> {
  if (failures.length > 0) {
    return { state: 'failed', text: [figures, ...failures.map((failure) => `failed: ${failure}`)].join('; ') };
  }
  if (skipped !== undefined) return { state: 'skipped', text: `${figures}; ${skipped}` };
  return { state: 'passed', text: figures };
}

/** Seeded pseudorandom numbers (mulberry32). */
export function seededRandom(start: number) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
