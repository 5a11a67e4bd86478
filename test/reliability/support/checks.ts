import { failedChecks } from '../scenario.ts';

/** Assertions: `right` must hold at once; `inTime` may fail once, since the machine may be busy. */
export type Checks = { strict: Record<string, boolean>; timing: Record<string, boolean> };

/** All failed assertions of one observation. */
export const allFailures = ({ strict, timing }: Checks) => failedChecks({ ...strict, ...timing });

/** Observes, and repeats once if only `inTime` failed; a failure of the repetition counts. */
export async function observeWithRetry<T>(observe: () => Promise<T>, check: (seen: T) => Checks) {
  const first = await observe();
  const { strict, timing } = check(first);
  if (failedChecks(strict).length > 0 || failedChecks(timing).length === 0)
    return { seen: first, failures: failedChecks({ ...strict, ...timing }) };
  const seen = await observe();
  return { seen, failures: allFailures(check(seen)) };
}

/** Negative control: the assertions that do not fail for a log made to break them. */
export const undetected = (found: string[], ...expected: string[]) =>
  expected
    .filter((text) => !found.some((failure) => failure.includes(text)))
    .map((text) => `control: not detected: ${text}`);
