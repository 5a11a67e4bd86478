import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { listCases } from './cases.ts';
import { withDatabase } from './database.ts';
import { report, type Goal } from './goals.ts';
import { drive, onlyStatus } from './load.ts';
import { machineOf } from './machine.ts';
import { withServer } from './server.ts';
import { needTools } from './tools.ts';
import { megabytesNow, peakMegabytes } from './usage.ts';
import { writing } from './warm.ts';

// Random lists, every ninth an uncached query, and ten writes a second.
needTools({ isPgbenchNeeded: false });
const { values } = parseArgs({ options: { minutes: { type: 'string' }, size: { type: 'string' } } });
const minutes = Number(values.minutes ?? 10);
const size = Number(values.size ?? 0.1);

await withDatabase(size, async (subject, dataset) => {
  const headers = { 'x-api-key': dataset.apiKey };
  const paths = (await listCases(subject, dataset)).map(({ path }) => path);
  // Two of fifteen lists; an ignored parameter makes a new cache key with a response of equal size.
  const fresh = ['/v2/coursedates?n={n}', '/v2/participants?n={n}'];
  await withServer(subject, {}, async ({ base, pid }) => {
    const held: number[] = [];
    const until = performance.now() + minutes * 60_000;
    const watch = (async () => {
      while (performance.now() < until) {
        await pause(5_000);
        held.push(megabytesNow(pid));
        if (held.length % 12 === 0) console.log(`minute ${held.length / 12}: ${held.at(-1)} MB`);
      }
    })();
    const { perSecond, p50, p99, statuses } = await writing(base, dataset.apiKey, () =>
      drive({
        ...{ url: base + paths[0]!, method: 'GET', headers, connections: 8, seconds: minutes * 60 },
        ...{ others: [...paths, ...fresh], othersShare: 0.95 },
      }),
    );
    await watch;
    console.log(`${Math.round(perSecond)} answers a second: ${JSON.stringify(statuses)}`);
    onlyStatus('200', { perSecond, p50, p99, statuses });
    // The maximum over half a minute: a sample right after garbage collection would be too low.
    const largest = (from: number) => Math.max(...held.slice(from, from + 6));
    const goals: Goal[] = [{ name: 'peak, MB', must: 200, atMost: true, measured: peakMegabytes(pid) }];
    // Needs the second minute as the baseline, and half a minute more.
    if (held.length >= 30) {
      const name = 'at the end, times the end of the second minute';
      goals.push({ name, must: 1.1, atMost: true, measured: largest(held.length - 6) / largest(18) });
    }
    const run = { machine: await machineOf(subject), date: new Date().toISOString(), size, minutes };
    mkdirSync('test/output', { recursive: true });
    writeFileSync('test/output/memory.json', JSON.stringify({ ...run, perSecond, p50, p99, held, goals }, null, 2));
    const missed = report(goals);
    process.exitCode = missed > 0 ? 1 : 0;
  });
});
