import { failedChecks, pause, waitUntil, type Scenario, type Run } from '../scenario.ts';
import { uniqueQuery } from '../support/unique-query.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { maxElapsed, countStatuses, sendAtRate } from '../support/load.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import type { HttpResponse } from '../support/client.ts';
import { startServer, stop, type Server } from '../support/server.ts';

const scenario: Scenario = {
  name: 'connection pool exhausted',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { count: 2 });
    const server = await startServer(run, schools.env);
    const failures: string[] = [];
    const rounds: Observation[] = [];
    for (let n = 0; n < (run.quick ? 1 : 5); n += 1) {
      const round = await observeWithRetry(() => observe(run, schools, server), check);
      failures.push(...round.failures);
      rounds.push(round.seen);
    }
    const concurrent = await requestWhileHeld(run, schools, server, lists);
    const isServed = (one: HttpResponse) => one.status === 200 && one.elapsed <= 1_000;
    if (!isServed(concurrent))
      failures.push(`during blocked lists an item request got ${concurrent.status} in ${concurrent.elapsed} ms`);
    const concurrentWithItems = await requestWhileHeld(run, schools, server, items);
    if (isServed(concurrentWithItems))
      failures.push('control: during blocked items, which hold all connections, an item request succeeded');
    await stop(server);

    // Negative control: a server without timeouts that also stalls when the last connection is released.
    const longTimeoutServer = await startServer(run, { ...schools.env, STATEMENT_TIMEOUT_MS: '66000' });
    const slow = await observe(run, schools, longTimeoutServer, 1_500);
    const found = allFailures(check(slow));
    const failed = { ...slow.reads[0]!, status: 500 };
    found.push(...failedChecks(check({ ...slow, reads: [failed], held: [failed] }).strict));
    return {
      figures: `${formatFigures(rounds)}, an item during blocked lists within ${Math.round(concurrent.elapsed)} ms; control: a timeout of 20 s and a pause cause ${found.length} failures`,
      failures: [
        ...failures,
        ...undetected(found, 'within 2 s', '/live', 'within 1 s', 'others get 200', 'holding requests'),
      ],
    };
  },
};
export default scenario;

/** One school's item requests hold all connections for three seconds while another school reads. */
async function observe(run: Run, { postgres, all }: Schools, server: Server, pauseMs = 0) {
  const [one, other] = all;
  const { base } = server;
  const { holder, holding, isWaiting } = await hold(run, postgres, one!, await items(one!, base));
  const areHeld = (await waitUntil(() => isWaiting(4), 2_000)) < Infinity;
  const page = () => other!.client.get(`${base}/v2/courses?${uniqueQuery()}`);
  const recovery = async () => {
    await pause(2_700);
    if (pauseMs > 0) {
      server.signal('SIGSTOP');
      void pause(pauseMs).then(() => server.signal('SIGCONT'));
    }
    await pause(300);
    const releasedAt = performance.now();
    await holder.query('commit');
    await waitUntil(async () => (await page()).status === 200, 30_000);
    return performance.now() - releasedAt;
  };
  const [reads, liveChecks, recoveryMs] = await Promise.all([
    sendAtRate(30, 2_800, page),
    sendAtRate(20, 2_800, () => other!.client.get(`${base}/live`)),
    recovery(),
  ]);
  return { areHeld, reads, liveChecks, recoveryMs, held: await Promise.all(holding) };
}
type Observation = Awaited<ReturnType<typeof observe>>;

type CreateUrl = (school: School, base: string) => Promise<() => string>;
/** One instructor and the instructor list, uncached. */
const items: CreateUrl = async ({ client }, base) => {
  const { text } = await client.post(`${base}/v2/instructors`, { firstname: 'Kari', lastname: 'Nordmann' });
  const { id } = JSON.parse(text) as { id: number };
  return () => `${base}/v2/instructors/${id}`;
};
const lists: CreateUrl = async (_school, base) => () => `${base}/v2/instructors?${uniqueQuery()}`;

/** Eight such lists wait for a lock, as many concurrently as the limiter admits. */
async function hold(run: Run, postgres: Schools['postgres'], { client }: School, nextUrl: () => string) {
  const holder = await postgres.connect('schools');
  run.onCleanup(() => holder.end());
  await holder.query('begin');
  await holder.query('lock table instructors in access exclusive mode');
  const holding = Array.from({ length: 8 }, () => client.get(nextUrl()));
  const isWaiting = async (minimum: number) => {
    const { rows } = await holder.query<{ count: number }>(
      "select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'",
    );
    return rows[0]!.count >= minimum;
  };
  return { holder, holding, isWaiting };
}

/** Another school requests items while one school's lists wait. */
async function requestWhileHeld(run: Run, { postgres, all }: Schools, { base }: Server, createUrl: CreateUrl) {
  const [one, other] = all;
  const { holder, holding, isWaiting } = await hold(run, postgres, one!, await createUrl(one!, base));
  await waitUntil(() => isWaiting(3), 2_000);
  // Any request beyond the limit has arrived by then.
  await pause(200);
  const response = await other!.client.get(`${base}/v2/courses/${other!.courseId}`);
  await holder.query('commit');
  await Promise.all(holding);
  return response;
}

function check({ areHeld, reads, liveChecks, recoveryMs, held }: Observation): Checks {
  return {
    strict: {
      [`others get 200 or 503 with Retry-After (${countStatuses(reads)})`]: reads.every(
        ({ status, headers }) => status === 200 || (status === 503 && headers['retry-after'] !== undefined),
      ),
      [`/live is 200 (${countStatuses(liveChecks)})`]: liveChecks.every(({ status }) => status === 200),
      [`holding requests get 200 or 503 (${countStatuses(held)})`]: held.every(
        ({ status }) => status === 200 || status === 503,
      ),
    },
    timing: {
      'all four connections are held': areHeld,
      [`others get a response within 2 s (${maxElapsed(reads)} ms)`]: maxElapsed(reads) <= 2_000,
      [`/live within 50 ms (${maxElapsed(liveChecks)} ms)`]: maxElapsed(liveChecks) <= 50,
      [`recovered within 1 s (${Math.round(recoveryMs)} ms)`]: recoveryMs <= 1_000,
    },
  };
}

function formatFigures(rounds: Observation[]) {
  const reads = rounds.flatMap((round) => round.reads);
  const liveChecks = rounds.flatMap((round) => round.liveChecks);
  const recoveryMs = Math.round(Math.max(...rounds.map((round) => round.recoveryMs)));
  return `others ${countStatuses(reads)} within ${maxElapsed(reads)} ms, /live within ${maxElapsed(liveChecks)} ms, recovered in ${recoveryMs} ms`;
}
