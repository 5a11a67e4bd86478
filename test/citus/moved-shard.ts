import { checksOf, observeFault, type Observable } from '../cluster/support/observe.ts';
import type { Fault } from '../cluster/support/faults.ts';
import { connectTo } from '../cluster/support/roles.ts';
import { waitUntil, type Outcome, type Run } from '../reliability/scenario.ts';
import { allFailures } from '../reliability/support/checks.ts';
import { findShard, nameOf, query, readWorkers, startCitusServer, type Distributed } from './cluster.ts';

/** Moves the shards of the first school to another worker while all schools book and read. */
export async function moveShard(run: Run, { url, schools }: Distributed): Promise<Outcome> {
  const servers = [await startCitusServer(run, url)];
  const { base } = servers[0]!;
  const [first] = schools;
  const from = await findShard(url, first!);
  const to = (await readWorkers(url)).find((worker) => nameOf(worker) !== nameOf(from));
  if (!to) return { figures: '', failures: ['the cluster has one worker'] };
  let elapsed = 0;
  const cluster: Observable = {
    ...{ base, servers, directUrl: url, connect: () => connectTo(url) },
    waitUntilComplete: async () => {
      await waitUntil(async () => (await first!.client.get(`${base}/ready`)).status === 200, 60_000);
    },
  };
  const fault: Fault<Observable> = {
    name: 'a shard moved',
    outageMs: 10_000,
    observeMs: 5_000,
    changes: { 'the worker of the shard': async () => nameOf(await findShard(url, first!)) },
    inject: async () => {
      const startedAt = performance.now();
      const values = [from.shard, from.host, from.port, to.host, to.port];
      await query(url, 'select citus_move_shard_placement($1::bigint, $2, $3::int, $4, $5::int)', values);
      elapsed = performance.now() - startedAt;
    },
  };
  const seen = await observeFault({ cluster, schools, before: [] }, fault);
  const { comparison, seats } = seen;
  return {
    figures:
      `shard ${from.shard} moved from ${nameOf(from)} to ${nameOf(to)} in ${Math.round(elapsed)} ms: ` +
      `${seen.acknowledged} writes acknowledged, ${comparison.lost} lost, ${comparison.duplicates} doubled, ` +
      `${seen.refused} repeated, ${seen.outageMs} ms without a write; ${seats.reads} lists, ${seats.stale.length} stale`,
    failures: allFailures(checksOf(fault, seen)),
  };
}
