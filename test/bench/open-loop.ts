import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createTitledProvider } from '../../src/domains/school/schools/service.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { medians } from './cost.ts';
import { assertStatus, warmUp } from './load.ts';
import { withServer } from './server.ts';
import { forkInSession } from './session.ts';
import { createTag, withWrites } from './warm.ts';

export type Target = { url: string; method: 'GET' | 'POST'; headers: Record<string, string>; body?: string };
/** Requests in turn, at a constant rate or, without one, as fast as responses arrive; `{n}` becomes unique. */
export type DriverLoad = { targets: Target[]; perSecond?: number; seconds: number; connections: number };
export type Latencies = { perSecond: number; p50: number; p95: number; p99: number; p999: number };
/** Latencies in ms; at a constant rate they start when the request was due. */
export type LoopFigures = Latencies & { statuses: Record<string, number> };
export type LatencyFigures = Latencies & { name: string; writesPerSecond: number };

/** The driver itself starts slowly: its code is compiled, and its connections are opened. */
export const warmUpSeconds = 5;

/** Sends this load from a process of its own, for the seconds after its warm-up. */
export async function runDriver(load: DriverLoad, status: '200' | '201'): Promise<Latencies> {
  const child = forkInSession('open-loop-driver.ts');
  child.send({ ...load, warmUpSeconds });
  const [{ statuses, ...latencies }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the load generator exited'))),
  ])) as [LoopFigures];
  assertStatus(status, { ...latencies, statuses });
  return latencies;
}

/** A usual RATE_LIMIT_PER_SECOND; without one a school's writes share the processor with all reads. */
const rateLimit = 20;

/** The start of the writing driver takes a core, which the reads beside it would wait for. */
const startSeconds = 4;

/**
 * Measures latencies at 70 % of capacity: cached, also beside another school that writes at its rate limit, and with
 * every tenth query new beside ten writes a second.
 */
export async function measureLatency(
  subject: Subject,
  { apiKey }: Dataset,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<LatencyFigures[]> {
  const writer = (await createTitledProvider(subject.database, `Writing school ${process.pid}`, null)).apiKey;
  return withServer(subject, {}, async ({ base }) => {
    const read: Target = { url: `${base}/v2/coursedates`, method: 'GET', headers: { 'x-api-key': apiKey } };
    const mixed = [...Array<Target>(9).fill(read), { ...read, url: `${read.url}?since_id={n}` }];
    const write: Target = {
      ...{ url: `${base}/v2/course-tags`, method: 'POST', body: '{"title":"Open {n}"}' },
      headers: { 'x-api-key': writer, 'content-type': 'application/json' },
    };
    const measureCapacity = (targets: Target[]) => runDriver({ targets, seconds, connections: 8 }, '200');
    const runOpen = (targets: Target[], capacity: Latencies) =>
      runDriver({ targets, perSecond: 0.7 * capacity.perSecond, seconds: 2 * seconds, connections: 64 }, '200');
    // A single round is only a smoke test.
    const minimum = rounds > 1 ? undefined : 0.1;
    const besideWrites = <T>(work: () => Promise<T>) => withWrites(createTag(base, apiKey), work, minimum);

    await warmUp({ ...read, method: 'GET', connections: 8 }, { rounds });
    const runs = { cached: [] as Run[], mixed: [] as Run[], besideWriter: [] as Run[] };
    for (let round = 0; round < rounds; round += 1) {
      const capacity = await measureCapacity([read]);
      runs.cached.push({ ...(await runOpen([read], capacity)), writesPerSecond: 0 });
      const writing = runDriver(
        { targets: [write], perSecond: rateLimit, seconds: 2 * seconds + startSeconds, connections: 32 },
        '201',
      );
      await pause(startSeconds * 1_000);
      const besideWriter = await runOpen([read], capacity);
      runs.besideWriter.push({ ...besideWriter, writesPerSecond: (await writing).perSecond });
      const mixedCapacity = await besideWrites(() => measureCapacity(mixed));
      runs.mixed.push({ ...(await besideWrites(() => runOpen(mixed, mixedCapacity))), writesPerSecond: 10 });
    }
    return [
      { name: 'cached', ...medians(runs.cached) },
      { name: 'mixed', ...medians(runs.mixed) },
      { name: 'cached, beside another school that writes', ...medians(runs.besideWriter) },
    ];
  });
}

type Run = Latencies & { writesPerSecond: number };
