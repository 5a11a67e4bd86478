import { failedChecks, pause, waitUntil, type Scenario, type Run } from '../scenario.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { maxElapsed, countStatuses, sendAtRate, type TimedResponse } from '../support/load.ts';
import { openProxy, type Proxy, type NetworkFault } from '../support/proxy.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { compareWrites, comparisonChecks, undetectedFaults, parseBookingIds, type Writes } from '../support/writers.ts';
import { bundle } from '../../support/bundle.ts';

const networkFaults: NetworkFault[] = [
  { kind: 'late', milliseconds: 500 },
  { kind: 'silent' },
  { kind: 'cut', oneIn: 10 },
  { kind: 'slow', bytesPerSecond: 10_000 },
  { kind: 'refused' },
];

const scenario: Scenario = {
  name: 'network faults between server and database',
  quick: true,
  async run(run) {
    const schools = await createSchools(run, { count: 3 });
    const { all, first, env, postgres } = schools;
    const proxy = await openProxy(run, postgres.port);
    const viaPort = (port: number) => ({ ...env, DATABASE_URL: postgres.url('schools', port) });
    const server = await startServer(run, viaPort(proxy.port));
    const text_description = 'What there is to learn. '.repeat(40);
    for (let n = 0; n < 75; n += 1) {
      await first.client.post(`${server.base}/v2/courses`, { title: `Course ${n}`, text_description });
    }
    const control = measureWithoutTimeouts(run, viaPort, schools);

    const written: Writes = { bookings: [], courses: [] };
    const figures: string[] = [];
    const failures: string[] = [];
    let last: Observation | undefined;
    const quick = networkFaults.filter(({ kind }) => kind === 'silent' || kind === 'cut');
    for (const networkFault of run.quick ? quick : networkFaults) {
      const context = { proxy, server, all, written };
      const round = await observeWithRetry(() => observe(networkFault, run.quick ? 2_000 : 10_000, context), check);
      figures.push(formatFigures(round.seen));
      failures.push(...round.failures);
      last = round.seen;
    }
    const comparison = await compareWrites(schools, written);
    failures.push(...failedChecks({ ...comparisonChecks(comparison), 'the server keeps running': !server.hasEnded() }));
    failures.push(...(await undetectedFaults(schools, server.base, written)));
    // Negative control: a server without timeouts, and a log with late and wrong responses.
    const unlimited = { ...(await control), sentAt: 0 };
    const found = [
      ...allFailures(check({ ...last!, responses: [unlimited], recoveryMs: 5_001 })),
      ...allFailures(check({ ...last!, responses: [{ ...unlimited, status: 503, headers: {} }] })),
      ...allFailures(check({ ...last!, kind: 'cut', responses: [], cuts: 0 })),
    ];
    failures.push(...undetected(found, 'over 10 s', 'get 503', 'within 5 s', 'some requests fail', 'rows are cut'));
    return { figures: `${figures.join('; ')}; without timeouts ${maxElapsed([unlimited])} ms`, failures };
  },
};
export default scenario;

/** Duration of a request on a server without timeouts while the database is silent. */
async function measureWithoutTimeouts(
  run: Run,
  viaPort: (port: number) => Record<string, string>,
  { first, postgres }: Schools,
) {
  const proxy = await openProxy(run, postgres.port);
  const command = [
    process.execPath,
    await bundle('test/reliability/support/unprotected-server.ts'),
    '{"timeoutMs":60000}',
  ];
  const withoutTimeouts = await startServer(run, viaPort(proxy.port), { command });
  await proxy.setFault({ kind: 'silent' });
  return first.client.get(`${withoutTimeouts.base}/v2/courses`, { timeoutMs: 12_000 });
}

type Context = { proxy: Proxy; server: Server; all: School[]; written: Writes };
let requestCount = 0;

async function observe(networkFault: NetworkFault, milliseconds: number, { proxy, server, all, written }: Context) {
  const read = (n: number) =>
    all[n % all.length]!.client.get(`${server.base}/v2/courses?since_id=${(requestCount += 1) % 10}`);
  const book = async (n: number) => {
    const school = all[n % all.length]!;
    requestCount += 1;
    const emails = [0, 1, 2].map((at) => `${requestCount}-${at}@people.example`);
    const participants = emails.map((email) => ({ firstname: 'Kari', lastname: 'Nordmann', email }));
    const body = { coursedate_id: school.dateIds[0], payment_method: 'invoice', participants };
    const booking: Writes['bookings'][number] = { school, emails };
    written.bookings.push(booking);
    const response = await school.client.post(`${server.base}/v2/booking`, body);
    if (response.status === 201) booking.acknowledged = parseBookingIds(response.text);
    return response;
  };
  // The slowest requests: each runs many sequential statements.
  const change = (n: number) => {
    const { client, courseId, dateIds } = all[n % all.length]!;
    const course = `${server.base}/v2/courses/${courseId}`;
    const relations = { tags: [{ title: `Tag ${requestCount}` }], labels: [{ title: `Label ${requestCount}` }] };
    if (n % 2 === 0)
      return client.post(`${server.base}/v2/courses`, { title: `Course of ${requestCount}`, ...relations });
    const gatherings = [{ gathering_at: '2035-06-10T10:00', gathering_end_at: '2035-06-10T11:00' }];
    const body = JSON.stringify({ capacity_max: 1_000_000 - n, gatherings });
    return client.send(`${course}/coursedates/${dateIds[1]}`, { method: 'PUT', body });
  };
  const send = (n: number) => (n % 5 === 0 ? book(n / 5) : n % 5 === 1 ? change(Math.floor(n / 5)) : read(n));

  // First few, so that connections stay free for the slow ones; then many.
  const sending = Promise.all([
    sendAtRate(2, milliseconds + 1_500, send),
    pause(milliseconds).then(() => sendAtRate(15, 1_500, send)),
  ]);
  await pause(1_000);
  const before = proxy.cuts();
  await proxy.setFault(networkFault);
  await pause(milliseconds);
  await proxy.setFault({ kind: 'clear' });
  const cuts = proxy.cuts() - before;
  const isBack = (n: number) =>
    waitUntil(async () => (await read(n)).status === 200 && (await book(n)).status === 201, 15_000);
  const recoveryMs = Math.round(Math.max(...(await Promise.all(all.map((_, n) => isBack(n))))));
  const responses = (await sending).flat();
  return { kind: networkFault.kind, responses, recoveryMs, cuts };
}
type Observation = Awaited<ReturnType<typeof observe>>;

/** A blocked network must cause errors; added latency need not. */
const disruptive: NetworkFault['kind'][] = ['silent', 'cut', 'refused'];

function check({ kind, responses, recoveryMs, cuts }: Observation): Checks {
  const isExpected = ({ status, headers }: TimedResponse) =>
    status === 200 || status === 201 || (status === 503 && headers['retry-after'] !== undefined);
  const wrong = responses.filter((one) => !isExpected(one));
  return {
    strict: {
      [`${kind}: failed requests get 503 (${countStatuses(wrong)})`]: wrong.length === 0,
      [`${kind}: some requests fail`]: !disruptive.includes(kind) || responses.some(({ status }) => status === 503),
      [`${kind}: rows are cut`]: kind !== 'cut' || cuts > 0,
    },
    timing: {
      [`${kind}: no request takes over 10 s (${maxElapsed(responses)} ms)`]: maxElapsed(responses) <= 10_000,
      [`${kind}: recovered within 5 s (${recoveryMs} ms)`]: recoveryMs <= 5_000,
    },
  };
}

const formatFigures = ({ kind, responses, recoveryMs, cuts }: Observation) =>
  `${kind}${cuts > 0 ? ` within ${cuts} rows` : ''}: ${countStatuses(responses)}, ${maxElapsed(responses)} ms at most, recovered in ${recoveryMs} ms`;
