import { createRunner, describeCounts } from '../reliability/runner.ts';
import type { Outcome, Run } from '../reliability/scenario.ts';
import { searchLogs } from '../reliability/support/secrets.ts';
import { runBehaviourTests } from './behaviour.ts';
import type { CitusCluster, Distributed } from './cluster.ts';
import { compareWithPlain } from './comparison.ts';
import { distribute } from './distribute.ts';
import { moveShard } from './moved-shard.ts';
import { stopWorker } from './stopped-worker.ts';

/** In the order in which they run after `distribute`; the behaviour tests store counters that `doctor` reports. */
const parts: Record<string, (run: Run, distributed: Distributed) => Promise<Outcome>> = {
  'comparison with one PostgreSQL server': compareWithPlain,
  'a shard moved': moveShard,
  'a worker stopped': stopWorker,
  'behaviour tests': runBehaviourTests,
};

/** Runs the parts on the empty database of a cluster; true if none failed. */
export async function runParts(cluster: CitusCluster) {
  const runner = createRunner({ quick: false, minutes: 0, seed: 1 });
  let distributed: Distributed | undefined;
  const first = await runner.run((run) => distribute(run, cluster, (all) => (distributed = all)));
  runner.report({ number: '1', name: 'distribute', ...first });
  for (const [n, [name, part]] of Object.entries(parts).entries()) {
    // Servers of an earlier part would send the mails of this one.
    const outcome = await runner.runAlone(async (run) =>
      distributed ? part(run, distributed) : { figures: '', failures: ['the database is not distributed'] },
    );
    runner.report({ number: String(n + 2), name, ...outcome });
    searchLogs();
  }
  for (const error of await runner.cleanUp()) console.error(error);
  console.log(describeCounts(runner.count()));
  return runner.count().failed === 0;
}
