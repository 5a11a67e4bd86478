import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { listCases } from './cases.ts';
import { withDatabase } from './database.ts';
import { report, type Goal } from './goals.ts';
import { runLoad, assertStatus } from './load.ts';
import { describeMachine } from './machine.ts';
import { withServer } from './server.ts';
import { requireTools } from './tools.ts';
import { megabytesNow, peakMegabytes } from './usage.ts';
import { createTag, withWrites } from './warm.ts';

// Random lists, every ninth an uncached query, and ten writes a second.
requireTools({ isPgbenchNeeded: false });
const { values } = parseArgs({ options: { minutes: { type: 'string' }, size: { type: 'string' } } });
const minutes = Number(values.minutes ?? 10);
const size = Number(values.size ?? 0.1);

await withDatabase(size, async (subject, dataset) => {
  const headers = { 'x-api-key': dataset.apiKey };
  const paths = (await listCases(subject, dataset)).map(({ path }) => path);
  // Two of fifteen lists; an ignored parameter makes a new cache key with a response of equal size.
  const uncachedPaths = ['/v2/coursedates?n={n}', '/v2/participants?n={n}'];
  await withServer(subject, {}, async ({ base, pid }) => {
    const samples: number[] = [];
    const until = performance.now() + minutes * 60_000;
    const sampling = (async () => {
      while (performance.now() < until) {
        await pause(5_000);
        samples.push(megabytesNow(pid));
        if (samples.length % 12 === 0) console.log(`minute ${samples.length / 12}: ${samples.at(-1)} MB`);
      }
    })();
    const { perSecond, p50, p99, statuses } = await withWrites(createTag(base, dataset.apiKey), () =>
      runLoad({
        ...{ url: base + paths[0]!, method: 'GET', headers, connections: 8, seconds: minutes * 60 },
        ...{ others: [...paths, ...uncachedPaths], othersShare: 0.95 },
      }),
    );
    await sampling;
    console.log(`${Math.round(perSecond)} responses a second: ${JSON.stringify(statuses)}`);
    assertStatus('200', { perSecond, p50, p99, statuses });
    // The maximum over half a minute: a sample right after garbage collection would be too low.
    const largest = (from: number) => Math.max(...samples.slice(from, from + 6));
    const goals: Goal[] = [{ name: 'peak, MB', must: 200, atMost: true, measured: peakMegabytes(pid) }];
    // Needs the second minute as the baseline, and half a minute more.
    if (samples.length >= 30) {
      const name = 'at the end, relative to the second minute';
      goals.push({ name, must: 1.1, atMost: true, measured: largest(samples.length - 6) / largest(18) });
    }
    const run = { machine: await describeMachine(subject), date: new Date().toISOString(), size, minutes };
    mkdirSync('test/output', { recursive: true });
    writeFileSync(
      'test/output/memory.json',
      JSON.stringify({ ...run, perSecond, p50, p99, held: samples, goals }, null, 2),
    );
    const missed = report(goals);
    process.exitCode = missed > 0 ? 1 : 0;
  });
});
