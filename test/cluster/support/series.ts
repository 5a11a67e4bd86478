import { loadavg } from 'node:os';
import { failedChecks, type Outcome, type Run } from '../../reliability/scenario.ts';
import { observeWithRetry } from '../../reliability/support/checks.ts';
import type { Fault } from './faults.ts';
import { checksOf, observeFault, startLoadedCluster } from './observe.ts';

/** At a higher load a missed time limit says nothing about the cluster. */
const maxLoad = 4;

/** One cluster in synchronous mode, and one fault after the other. */
export async function runFaults(run: Run, faults: Fault[]): Promise<Outcome> {
  const [load] = loadavg() as [number];
  const isBusy = load >= maxLoad;
  let isLate = false;
  const loaded = await startLoadedCluster(run);
  const outcome = { figures: [] as string[], failures: [] as string[] };
  for (const fault of faults) {
    const observe = () => observeFault(loaded, fault);
    const check = (seen: Awaited<ReturnType<typeof observe>>) => {
      const { strict, timing } = checksOf(fault, seen);
      return { strict, timing: isBusy ? {} : timing };
    };
    const { seen, failures } = await observeWithRetry(observe, check);
    const late = failedChecks(checksOf(fault, seen).timing).length > 0 ? ' (too long)' : '';
    isLate ||= late !== '';
    outcome.failures.push(...failures);
    outcome.figures.push(
      `${fault.name}: ${seen.outageMs} ms without a write${late}, ${seen.acknowledged} acknowledged, ` +
        `${seen.comparison.lost} lost, ${seen.comparison.duplicates} doubled, ${seen.refused} repeated, ` +
        `${seen.seats.reads} lists, ${seen.standbyCommits} from a standby after the repair, ${seen.seats.stale.length} stale, ${seen.seats.failed.length} failed`,
    );
    console.log(`  ${outcome.figures.at(-1)}`);
    for (const failure of failures) console.log(`  failed: ${failure}`);
  }
  return {
    ...outcome,
    figures: outcome.figures.join('; '),
    ...(isBusy && isLate ? { skipped: `the load was ${load.toFixed(1)}, so missed time limits were not judged` } : {}),
  };
}
