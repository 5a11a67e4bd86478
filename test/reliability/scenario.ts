/** Context of a running scenario. */
export type Run = {
  /** Fewer rounds, for CI. */
  quick: boolean;
  /** Duration of the soak test. */
  minutes: number;
  /** `--seed` repeats a run. */
  seed: number;
  /** Next pseudorandom number in [0, 1). */
  random(): number;
  /** Registers a cleanup function; the last one registered runs first. */
  onCleanup(work: () => unknown): void;
};

/** The part of a run that ends its processes and removes its folders. */
export type Cleanup = Pick<Run, 'onCleanup'>;

/** Measured figures and failed assertions. Passed without failures; `skipped` is the reason why a part could not run. */
export type Outcome = { figures: string; failures: string[]; skipped?: string };

export type Scenario = {
  name: string;
  /** Included in `--quick`. */
  quick: boolean;
  /** Too long for the whole set: runs only with `--only`. */
  explicitOnly?: boolean;
  /**
   * Debian packages and, for each, a shell command that succeeds if it is installed; otherwise the scenario is skipped.
   */
  requires?: Record<string, string>;
  /**
   * Injects a failure and observes, then runs the negative control: the same assertions must detect the failure without the
   * protection.
   */
  run(run: Run): Promise<Outcome>;
};

/** Returns the names of the failed checks. */
export function failedChecks(checks: Record<string, boolean>): string[] {
  return Object.entries(checks).flatMap(([must, holds]) => (holds ? [] : [must]));
}

/** Percentile of the values; NaN if there are none. */
export function percentile(values: number[], share: number) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));

/** Polls until the condition holds or times out; returns the elapsed milliseconds, or Infinity. */
export async function waitUntil(so: () => boolean | Promise<boolean>, milliseconds: number) {
  const startedAt = performance.now();
  while (!(await so())) {
    if (performance.now() - startedAt > milliseconds) return Infinity;
    await pause(20);
  }
  return performance.now() - startedAt;
}
