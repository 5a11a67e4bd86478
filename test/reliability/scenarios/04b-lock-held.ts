import { pause, percentile, type Scenario, type Run } from '../scenario.ts';
import { uniqueQuery } from '../support/unique-query.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { maxElapsed, countStatuses, sendAtRate } from '../support/load.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundleWithoutGuards } from '../../support/unguarded.ts';

const scenario: Scenario = {
  name: 'provider lock held',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { count: 3 });
    const server = await startServer(run, schools.env);
    const { seen, failures } = await observeWithRetry(
      () => observe(run, schools, server, run.quick ? 6_000 : 30_000),
      check,
    );
    server.signal('SIGTERM');
    await server.ended;

    const command = [
      process.execPath,
      await bundleWithoutGuards('test/reliability/support/unprotected-server.ts', ['queue']),
    ];
    const withoutQueue = await startServer(run, schools.env, { command });
    const withoutQueueSeen = await observe(run, schools, withoutQueue, 4_000);
    // Also a log with late and with wrong responses.
    const late = { ...seen.writes[0]!, sentAt: 0, elapsed: 3_001 };
    const found = [
      ...allFailures(check(withoutQueueSeen)),
      ...allFailures(check({ ...seen, writes: [late], reads: [{ ...late, status: 200 }] })),
      ...allFailures(check({ ...seen, writes: [{ ...late, status: 500 }], reads: [{ ...late, status: 500 }] })),
    ];
    return {
      figures: `${formatFigures(seen)}; without the queue others' p99 ${getP99(withoutQueueSeen)} ms`,
      failures: [
        ...failures,
        ...undetected(found, "others' p99", 'within 3 s', 'within 1 s', 'its writes get', 'its reads succeed'),
      ],
    };
  },
};
export default scenario;

/** Holds the lock while 50 writers wait for it and other schools continue. */
async function observe(run: Run, { postgres, all }: Schools, { base }: Server, milliseconds: number) {
  const [held, ...others] = all as [School, ...School[]];
  const holder = await postgres.connect('schools');
  run.onCleanup(() => holder.end());
  await holder.query('begin');
  await holder.query('select from provider_state where provider_id = $1 for update', [held.id]);

  const deadline = performance.now() + milliseconds;
  const write = (school: School, n: number) =>
    school.client.post(`${base}/v2/courses`, { title: `Course ${performance.now()}-${n}` });
  const list = ({ client }: School) => client.get(`${base}/v2/courses?${uniqueQuery()}`);
  const one = ({ client, courseId }: School) => client.get(`${base}/v2/courses/${courseId}`);
  const requests = [write, list, one];
  const writing = Array.from({ length: 50 }, async (_, n) => {
    const responses = [];
    while (performance.now() < deadline) {
      responses.push(await write(held, n));
      await pause(200);
    }
    return responses;
  });
  const during = milliseconds - 500;
  const [otherSchools, reads] = await Promise.all([
    sendAtRate(40, during, (n) => {
      const school = others[n % others.length]!;
      return requests[Math.floor(n / others.length) % requests.length]!(school, n);
    }),
    sendAtRate(10, during, () => list(held)),
  ]);
  const writes = (await Promise.all(writing)).flat();
  await holder.query('rollback');
  const after = await write(held, 0);
  return { milliseconds, otherSchools, reads, writes, after };
}
type Observation = Awaited<ReturnType<typeof observe>>;

function getP99({ otherSchools }: Observation) {
  const elapsed = otherSchools.map((response) => response.elapsed);
  return Math.round(percentile(elapsed, 0.99));
}

function check(seen: Observation): Checks {
  const { otherSchools, reads, writes, after } = seen;
  return {
    strict: {
      [`others all succeed (${countStatuses(otherSchools)})`]: otherSchools.every(
        ({ status }) => status < 300 && status > 0,
      ),
      [`its writes get 503 with Retry-After (${countStatuses(writes)})`]: writes.every(
        ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
      ),
      [`its reads succeed (${countStatuses(reads)})`]: reads.every(({ status }) => status === 200),
      [`it can write again (${after.status})`]: after.status === 201,
    },
    timing: {
      [`others' p99 under 100 ms (${getP99(seen)} ms)`]: getP99(seen) <= 100,
      [`its writes end within 3 s (${maxElapsed(writes)} ms)`]: maxElapsed(writes) <= 3_000,
      [`its reads end within 1 s (${maxElapsed(reads)} ms)`]: maxElapsed(reads) <= 1_000,
    },
  };
}

const formatFigures = (seen: Observation) =>
  `${seen.milliseconds / 1_000} s, ${seen.writes.length} writes 503 within ${maxElapsed(seen.writes)} ms, others' p99 ${getP99(seen)} ms`;
