import { failedChecks, pause, waitUntil, type Scenario } from '../scenario.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { countStatuses, sendAtRate, type TimedResponse } from '../support/load.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import {
  areAllAcknowledged,
  compareWrites,
  comparisonChecks,
  undetectedFaults,
  startWriters,
} from '../support/writers.ts';

const scenario: Scenario = {
  name: 'database killed during writes',
  quick: true,
  async run(run) {
    const schools = await createSchools(run, { count: 3 });
    const { postgres, env, all, first } = schools;
    const server = await startServer(run, env);
    const base = () => server.base;
    const writers = startWriters(all, { base });
    const read = ({ client }: School, n = 0) => client.get(`${server.base}/v2/courses?since_id=${n}`);
    const write = () => first.client.post(`${server.base}/v2/courses`, { title: `Course ${performance.now()}` });

    const kills = run.quick ? 2 : 5;
    const killRepeatedly = async () => {
      const seen: Observation = { recoveryMs: 0, whileDown: [], afterRestart: [] };
      for (let n = 0; n < kills; n += 1) {
        await pause(1_000 + run.random() * 2_000);
        await postgres.kill();
        seen.whileDown.push(...(await sendAtRate(20, 1_000, (n) => (n % 2 === 0 ? read(all[n % 3]!, n) : write()))));
        await postgres.start();
        const startedAt = performance.now();
        const isBack = (school: School) => waitUntil(async () => (await read(school)).status === 200, 10_000);
        await Promise.all([...all.map(isBack), waitUntil(async () => (await write()).status === 201, 10_000)]);
        seen.recoveryMs = Math.max(seen.recoveryMs, Math.round(performance.now() - startedAt));
        seen.afterRestart.push(...(await sendAtRate(20, 1_000, (n) => (n % 2 === 0 ? read(all[n % 3]!, n) : write()))));
      }
      return seen;
    };
    const { seen, failures: lateFailures } = await observeWithRetry(killRepeatedly, check);
    await pause(500);
    await writers.stop();
    const { written, unexpectedResponses: surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const comparison = await compareWrites(schools, written);
    const failures = failedChecks({
      ...comparisonChecks(comparison),
      [`writes fail only with 503, not ${surprises[0]}`]: surprises.length === 0,
      [`no connection is cut (${statuses.get(0)} were)`]: !statuses.has(0),
      'every write is acknowledged eventually': areAllAcknowledged(written),
      'the server keeps running': !server.hasEnded(),
    });
    const undetectedFailures = await undetectedFaults(schools, server.base, written);
    const found = allFailures(check({ recoveryMs: 5_001, whileDown: seen.afterRestart, afterRestart: seen.whileDown }));
    undetectedFailures.push(...undetected(found, 'is down', 'within 5 s', 'stays available'));

    // Negative control: a database that commits asynchronously.
    const asyncCommit = ['synchronous_commit = off', 'wal_writer_delay = 10000', 'wal_writer_flush_after = 100000'];
    await postgres.execute(...asyncCommit.map((setting) => `alter system set ${setting}`), 'select pg_reload_conf()');
    await pause(500);
    const unprotectedWriters = startWriters(all, { base, name: 'trusting' });
    await pause(1_500);
    await postgres.kill();
    await postgres.start();
    await unprotectedWriters.stop();
    const { lost } = await compareWrites(schools, unprotectedWriters.written);
    return {
      figures: `${kills} kills, ${count} writes, ${statuses.get(503)} got 503, ${comparison.lost} lost, recovered in ${seen.recoveryMs} ms at most; with synchronous_commit off ${lost} lost`,
      failures: [
        ...lateFailures,
        ...failures,
        ...undetectedFailures,
        ...(lost > 0 ? [] : ['control: lost asynchronous commits detected']),
      ],
    };
  },
};
export default scenario;

/** `back`: maximum milliseconds until the server is ready after the database. */
type Observation = { recoveryMs: number; whileDown: TimedResponse[]; afterRestart: TimedResponse[] };

function check({ recoveryMs, whileDown, afterRestart }: Observation): Checks {
  return {
    strict: {
      [`503 with Retry-After while the database is down (${countStatuses(whileDown)})`]: whileDown.every(
        ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
      ),
      [`it stays available (${countStatuses(afterRestart)})`]: afterRestart.every(
        ({ status }) => status === 200 || status === 201,
      ),
    },
    timing: { [`recovered within 5 s (${recoveryMs} ms)`]: recoveryMs <= 5_000 },
  };
}
