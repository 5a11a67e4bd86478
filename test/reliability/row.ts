/** What a row may use while it runs. */
export type Run = {
  /** The quick half: as many rounds as four minutes for all rows allow. */
  quick: boolean;
  /** How long a soak takes. */
  minutes: number;
  /** Says it again with `--seed`. */
  seed: number;
  /** The next number in [0, 1) of the seed's sequence. */
  random(): number;
  /** Done when the row ends, in whatever way; the last first. */
  afterwards(work: () => unknown): void;
};

/** What a row has to show: its figures in words, and what does not hold. Without faults it has passed, unless a part could not be tried: `skipped` says what that needs. */
export type Outcome = { figures: string; faults: string[]; skipped?: string };

export type Row = {
  name: string;
  /** Whether the quick half has it. */
  quick: boolean;
  /** Too long for the whole set: run when it is asked for by its number. */
  onlyAlone?: boolean;
  /** Debian packages it cannot do without, each with a shell command that succeeds where it is there; without one it is skipped. */
  needs?: Record<string, string>;
  /** Breaks something and looks on, then the negative control: that the same look finds the fault where it is made. */
  run(run: Run): Promise<Outcome>;
};

/** Collects what does not hold. */
export function faultsOf(checks: Record<string, boolean>): string[] {
  return Object.entries(checks).flatMap(([must, holds]) => (holds ? [] : [must]));
}

/** The value below which that share of them lies; NaN of none. */
export function percentile(values: number[], share: number) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));

/** Asks again and again until it is so, at most that long; how many milliseconds it took, or Infinity. */
export async function until(so: () => boolean | Promise<boolean>, milliseconds: number) {
  const begun = performance.now();
  while (!(await so())) {
    if (performance.now() - begun > milliseconds) return Infinity;
    await pause(20);
  }
  return performance.now() - begun;
}
