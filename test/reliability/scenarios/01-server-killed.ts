import { failedChecks, pause, type Scenario } from '../scenario.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { createSchools } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import {
  areAllAcknowledged,
  compareWrites,
  comparisonChecks,
  undetectedFaults,
  startWriters,
} from '../support/writers.ts';

const scenario: Scenario = {
  name: 'server killed during writes',
  quick: true,
  async run(run) {
    const schools = await createSchools(run, { count: 3 });
    let server = await startServer(run, schools.env);
    const { port, base } = server;
    const writers = startWriters(schools.all, { base: () => base });
    const restart = async () => {
      server.signal('SIGKILL');
      await server.ended;
      server = await startServer(run, schools.env, { port });
      return Math.round(server.startupMs);
    };
    const [kills, intervalMs] = run.quick ? [3, 3_000] : [12, 5_000];
    /** Kills the server repeatedly during writes; returns the startup times. */
    const killRepeatedly = async () => {
      const starts: number[] = [];
      const startedAt = performance.now();
      for (let n = 1; n <= kills; n += 1) {
        await pause(Math.max(500, startedAt + n * intervalMs - run.random() * 1_000 - performance.now()));
        starts.push(await restart());
      }
      return starts;
    };
    const { seen: starts, failures: lateFailures } = await observeWithRetry(killRepeatedly, check);
    await writers.stop();
    const { written, unexpectedResponses: surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const comparison = await compareWrites(schools, written);
    const failures = failedChecks({
      ...comparisonChecks(comparison),
      [`writes fail only by cut connections and 503, not ${surprises[0]}`]: surprises.length === 0,
      'every write is acknowledged eventually': areAllAcknowledged(written),
      'connections were cut': (statuses.get(0) ?? 0) > 0,
    });
    const undetectedFailures = await undetectedFaults(schools, base, written);
    undetectedFailures.push(...undetected(allFailures(check([2_001])), 'within 2 s'));

    // Negative control: clients without idempotency keys against a server whose responses are lost. A busy server may
    // have no request in flight when it stops, hence up to five attempts.
    let duplicates = 0;
    for (let n = 1; n <= 5 && duplicates === 0; n += 1) {
      const withoutKeys = startWriters(schools.all, {
        base: () => base,
        idempotencyKeys: false,
        timeoutMs: 300,
        name: `keyless${n}`,
      });
      await pause(500);
      server.signal('SIGSTOP');
      await pause(500);
      server.signal('SIGCONT');
      await pause(500);
      await withoutKeys.stop();
      duplicates = (await compareWrites(schools, withoutKeys.written)).duplicates;
    }
    if (duplicates === 0) undetectedFailures.push('control: duplicate bookings without a key detected');
    return {
      figures: `${kills} kills, ${count} writes, ${statuses.get(0)} cuts, ${comparison.lost} lost, ready in ${Math.max(...starts)} ms at most; all injected failures detected, ${duplicates} duplicate bookings without keys`,
      failures: [...lateFailures, ...failures, ...undetectedFailures],
    };
  },
};
export default scenario;

function check(starts: number[]): Checks {
  const slowest = Math.max(...starts);
  return { strict: {}, timing: { [`ready within 2 s (${slowest} ms)`]: slowest <= 2_000 } };
}
