import { failedChecks, pause, waitUntil, type Scenario } from '../scenario.ts';
import { allFailures, undetected, type Checks } from '../support/checks.ts';
import { countStatuses, sendAtRate, type TimedResponse } from '../support/load.ts';
import { openProxy } from '../support/proxy.ts';
import { createSchools, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { compareWrites, comparisonChecks, parseBookingIds, type Writes } from '../support/writers.ts';
import { bundle } from '../../support/bundle.ts';

const scenario: Scenario = {
  name: 'database connections terminated every second',
  quick: true,
  async run(run) {
    const schools = await createSchools(run, { count: 2 });
    // With latency, so that many cuts fall between two statements of a transaction.
    const proxy = await openProxy(run, schools.postgres.port);
    await proxy.setFault({ kind: 'late', milliseconds: 5 });
    const env = { ...schools.env, DATABASE_URL: schools.postgres.url('schools', proxy.port) };
    const server = await startServer(run, env);
    const seen = await observe(schools, server, run.quick ? 8_000 : 60_000);
    const failures = [
      ...allFailures(check(seen)),
      ...failedChecks(comparisonChecks(await compareWrites(schools, seen.written))),
    ];

    // Negative controls: a server without error listeners, logs that break each limit, a missing booking.
    const command = [
      process.execPath,
      await bundle('test/reliability/support/unprotected-server.ts'),
      '{"withoutErrorListeners":true}',
    ];
    const unprotected = await startServer(run, env, { command });
    // It exits when a cut finds an idle connection, which not every cut does.
    let withoutListeners = await observe(schools, unprotected, 3_000);
    for (let tries = 1; !withoutListeners.ended && tries < 5; tries += 1)
      withoutListeners = await observe(schools, unprotected, 3_000);
    const lost = { ...seen.responses[0]!, status: 503, sentAt: seen.cuts[0]! - 5_000, elapsed: 10 };
    const found = [
      ...allFailures(check(withoutListeners)),
      ...allFailures(check({ ...seen, responses: [...seen.responses, lost], betweenStatements: 0 })),
    ];
    const forged = {
      school: schools.first,
      emails: ['forged'],
      acknowledged: { order: 1, booking: 1, participants: [1] },
    };
    const comparison = await compareWrites(schools, { ...seen.written, bookings: [...seen.written.bookings, forged] });
    const { cuts, betweenStatements, responses } = seen;
    return {
      figures: `${cuts.length} cuts, ${betweenStatements} between two statements, ${responses.length} requests: ${countStatuses(responses)}; control: a server without error listeners ${withoutListeners.ended ? 'exits' : 'keeps running'}, ${comparison.lost} lost`,
      failures: [
        ...failures,
        ...undetected(found, 'the process keeps running', 'get 503', 'in flight', 'two statements', 'ready again'),
        ...failedChecks({ 'control: a lost booking is detected': comparison.lost === 1 }),
      ],
    };
  },
};
export default scenario;

/** Reads and books 100 times a second while the database terminates all connections once a second. */
async function observe(schools: Schools, server: Server, milliseconds: number) {
  const { postgres, all } = schools;
  const admin = await postgres.connect('postgres');
  const cuts: number[] = [];
  let betweenStatements = 0;
  const stop = new AbortController();
  const terminating = (async () => {
    while (!stop.signal.aborted) {
      cuts.push(performance.now());
      const { rows } = await admin.query<{ state: string }>(
        `select state, pg_terminate_backend(pid) from pg_stat_activity where datname = 'schools'`,
      );
      betweenStatements += rows.filter(({ state }) => state === 'idle in transaction').length;
      await pause(1_000);
    }
  })();
  const written: Writes = { bookings: [], courses: [] };
  const responses = await sendAtRate(100, milliseconds, async (n) => {
    const school = all[n % all.length]!;
    if (n % 3 > 0) return school.client.get(`${server.base}/v2/courses?since_id=${n}`);
    const emails = [0, 1, 2].map((at) => `${server.pid}-${n}-${at}@people.example`);
    const participants = emails.map((email) => ({ firstname: 'Kari', lastname: 'Nordmann', email }));
    const body = { coursedate_id: school.dateIds[0], payment_method: 'invoice', participants };
    const response = await school.client.post(`${server.base}/v2/booking`, body);
    const booking = { school, emails };
    written.bookings.push(
      response.status === 201 ? { ...booking, acknowledged: parseBookingIds(response.text) } : booking,
    );
    return response;
  });
  stop.abort();
  await terminating;
  await admin.end();
  const ended = server.hasEnded();
  const recoveryMs = await waitUntil(
    async () => (await all[0]!.client.get(`${server.base}/ready`)).status === 200,
    2_000,
  );
  return { cuts, betweenStatements, responses, written, ended, recoveryMs };
}

function check({ cuts, betweenStatements, responses, ended, recoveryMs }: Awaited<ReturnType<typeof observe>>): Checks {
  const failed = responses.filter(({ status }) => status >= 300 || status === 0);
  const wrongResponses = failed.filter(({ status, headers }) => status !== 503 || headers['retry-after'] === undefined);
  // A cut affects requests in flight, and terminating takes a moment.
  const isHit = ({ sentAt, elapsed }: TimedResponse) =>
    cuts.some((cut) => cut >= sentAt - 50 && cut <= sentAt + elapsed);
  const unaffected = failed.filter((response) => !isHit(response));
  const example = wrongResponses[0] && ` ${wrongResponses[0].text} after ${Math.round(wrongResponses[0].elapsed)} ms`;
  return {
    strict: {
      'the process keeps running': !ended,
      [`failed requests get 503 with Retry-After (${countStatuses(wrongResponses)}${example ?? ''})`]:
        wrongResponses.length === 0,
      [`only requests in flight fail (${unaffected.length} others did)`]: unaffected.length === 0,
      'connections are cut between two statements of a transaction': betweenStatements > 0,
      'it becomes ready again': recoveryMs < Infinity,
    },
    timing: {},
  };
}
