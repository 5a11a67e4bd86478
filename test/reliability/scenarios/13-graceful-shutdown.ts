import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { failedChecks, pause, waitUntil, type Scenario, type Run } from '../scenario.ts';
import { openBalancer } from '../support/balancer.ts';
import { allFailures, undetected, observeWithRetry, type Checks } from '../support/checks.ts';
import { createClient } from '../support/client.ts';
import { countStatuses, sendAtRate, type TimedResponse } from '../support/load.ts';
import { createSchools, type Schools } from '../support/school.ts';
import { startServer, stop } from '../support/server.ts';
import { bundle } from '../../support/bundle.ts';

const scenario: Scenario = {
  name: 'graceful shutdown',
  quick: false,
  async run(run) {
    const schools = await createSchools(run);
    const pending = await stopWithPendingConnections(run, schools);
    const stopped = await observeWithRetry(() => stopUnderLoad(run, schools), checkStop);
    const seconds = run.quick ? 2 : 8;
    const replaced = await observeWithRetry(() => replaceReplica(run, schools, seconds, 'SIGTERM'), checkReplacement);

    // Negative controls: a server that exits immediately, a log of a late exit, a truncated response, a killed replica.
    const command = [process.execPath, await bundle('test/reliability/support/unprotected-server.ts')];
    const immediate = await stopWithPendingConnections(run, schools, command);
    const cut = await stopUnderLoad(run, schools, command);
    const killed = await replaceReplica(run, schools, 1, 'SIGKILL');
    const found = [
      ...allFailures(checkStop(cut)),
      ...allFailures(checkStop({ ...stopped.seen, elapsed: 10_001 })),
      ...allFailures(checkStop({ ...stopped.seen, later: await truncatedResponse(run) })),
      ...allFailures(checkReplacement(killed)),
    ];
    const { code, elapsed, before, later, signalledAt } = stopped.seen;
    const inFlight = before.filter((response) => response.sentAt + response.elapsed > signalledAt).length;
    const failed = (responses: TimedResponse[]) => responses.filter((response) => !isServed(response)).length;
    return {
      figures: `exit ${code} after ${elapsed} ms, ${before.length} requests before the signal completed, ${inFlight} of them in flight, ${later.filter(isRefused).length} of ${later.length} later ones were refused, ${pending.completed} of 50 pending connections completed; a replica replaced during ${replaced.seen.responses.length} requests, ${failed(replaced.seen.responses)} failed; control: an immediate exit completes ${immediate.completed} and fails ${failed(cut.before)}, a kill fails ${failed(killed.responses)}`,
      failures: [
        ...stopped.failures,
        ...replaced.failures,
        ...failedChecks({
          [`pending connections are served (${pending.statuses})`]: pending.completed === 50,
          'control: dropped connections are detected': immediate.completed < 50,
        }),
        ...undetected(
          found,
          'exit 0',
          'within 10 s',
          'before the signal',
          '(0 (cut within a response: ',
          'slow requests',
          'replaced (',
          'exits with 0',
        ),
      ],
    };
  },
};
export default scenario;

const isServed = ({ status }: TimedResponse) => status === 200 || status === 201;
/** 503 on a busy machine is a response. */
const isBusy = ({ status, headers }: TimedResponse) => status === 503 && headers['retry-after'] !== undefined;
/** Connection refused or reset before the first byte of a response. */
const isRefused = ({ status, text }: TimedResponse) =>
  status === 0 && /^(connect ECONNREFUSED|(read|write) (ECONNRESET|EPIPE)|socket hang up)/.test(text);

/** A paused server, so that new connections and the signal arrive together. */
async function stopWithPendingConnections(run: Run, { env, first }: Schools, command?: string[]) {
  const server = await startServer(run, env, command && { command });
  const client = createClient(first.client.apiKey);
  run.onCleanup(client.close);
  server.signal('SIGSTOP');
  const pending = Array.from({ length: 50 }, (_, n) => client.get(`${server.base}/v2/courses?page=${n + 1}`));
  await pause(300);
  server.signal('SIGTERM');
  server.signal('SIGCONT');
  const responses = await Promise.all(pending);
  await server.ended;
  return { completed: responses.filter(({ status }) => status === 200).length, statuses: countStatuses(responses) };
}

/** A server that exits within the status line of a response. */
async function truncatedResponse(run: Run): Promise<TimedResponse[]> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy()));
  });
  run.onCleanup(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = createClient('truncated-response-key');
  const response = await client.get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  client.close();
  return [{ ...response, sentAt: 0 }];
}

/** A single server gets SIGTERM while some requests take two seconds and many others are in flight. */
async function stopUnderLoad(run: Run, { postgres, env, first }: Schools, command?: string[]) {
  const server = await startServer(run, env, command && { command });
  const { client } = first;
  const slow = createClient(client.apiKey);
  run.onCleanup(slow.close);
  const holder = await postgres.connect('schools');
  await holder.query('begin');
  await holder.query('lock table instructors in access exclusive mode');

  const responses = sendAtRate(200, 2_000, (n) => client.get(`${server.base}/v2/courses?page=${n + 1}`));
  // Leaves connections for the others: of four, one waits for the table and one for the lock.
  const waiting = (async () => {
    await pause(600);
    const read = slow.get(`${server.base}/v2/instructors`);
    const write = slow.post(`${server.base}/v2/instructors`, { firstname: 'Kari', lastname: 'Nordmann' });
    return Promise.all([read, write]);
  })();
  await pause(1_000);
  const burst = Array.from({ length: 100 }, async (_, n): Promise<TimedResponse> => {
    const sentAt = performance.now();
    return { ...(await client.get(`${server.base}/v2/courses?page=${n + 1_000}`)), sentAt };
  });
  await Promise.race(burst);
  const signalledAt = performance.now();
  // Requests sent before have arrived by then.
  await pause(5);
  const ended = stop(server);
  await pause(1_000);
  await holder.query('commit');
  await holder.end();
  const code = await ended;
  const elapsed = Math.round(performance.now() - signalledAt);
  const slowStatuses = (await waiting).map(({ status }) => status);
  const all = [...(await responses), ...(await Promise.all(burst))];
  const [before, later] = [
    all.filter(({ sentAt }) => sentAt < signalledAt),
    all.filter(({ sentAt }) => sentAt >= signalledAt),
  ];
  return { code, elapsed, signalledAt, before, later, slowStatuses };
}

function checkStop({ code, elapsed, before, later, slowStatuses }: Awaited<ReturnType<typeof stopUnderLoad>>): Checks {
  const wrong = before.filter((one) => !isServed(one));
  const wrongLater = later.filter((one) => !isServed(one) && !isRefused(one));
  const lost = wrong.filter((one) => !isBusy(one));
  const lostLater = wrongLater.filter((one) => !isBusy(one));
  return {
    strict: {
      [`exit 0 (${code})`]: code === 0,
      [`every request before the signal completes (${countStatuses(lost)})`]: lost.length === 0,
      [`every later request completes or is refused (${countStatuses(lostLater)})`]: lostLater.length === 0,
      [`slow requests complete (${slowStatuses.join(', ')})`]: slowStatuses.join() === '200,201',
    },
    timing: {
      [`within 10 s (${elapsed} ms)`]: elapsed <= 10_000,
      [`every request gets a database connection (${countStatuses([...wrong, ...wrongLater])})`]:
        wrong.length + wrongLater.length === 0,
    },
  };
}

/** Milliseconds until a balancer notices. */
const drainMs = 700;

/** Two replicas behind a balancer; a third replaces the first, which gets SIGTERM. */
async function replaceReplica(run: Run, { env, first }: Schools, seconds: number, signal: NodeJS.Signals) {
  const draining = { ...env, SHUTDOWN_DRAIN_MS: String(drainMs) };
  const [one, two] = await Promise.all([startServer(run, draining), startServer(run, draining)]);
  const client = createClient(first.client.apiKey);
  // A graceful stop announces itself by /ready; after a kill the balancer notices later than the requests.
  const balancer = openBalancer(client, { intervalMs: signal === 'SIGKILL' ? 3_000 : 100 });
  balancer.add(one.base);
  balancer.add(two.base);
  const startedAt = Date.now();
  const stopSending = new AbortController();
  const sending = sendAtRate(200, stopSending.signal, (n) => {
    if (n % 10 > 0) return balancer.send(`/v2/courses?page=${n + 1}`);
    const body = JSON.stringify({ title: `Course ${startedAt} ${n}` });
    return balancer.send('/v2/courses', { method: 'POST', body });
  });
  await pause(seconds * 500);
  const three = await startServer(run, draining);
  balancer.add(three.base);
  one.signal(signal);
  const code = await one.ended;
  await waitUntil(() => !balancer.isReady(one.base), 1_000);
  balancer.remove(one.base);
  await pause(seconds * 500);
  stopSending.abort();
  const responses = await sending;
  await balancer.close();
  client.close();
  await Promise.all([stop(two), stop(three)]);
  return { code, responses, slowestCheckMs: balancer.slowestCheckMs() };
}

function checkReplacement({ code, responses, slowestCheckMs }: Awaited<ReturnType<typeof replaceReplica>>): Checks {
  const wrong = responses.filter((response) => !isServed(response));
  const lost = wrong.filter((response) => !isBusy(response));
  return {
    strict: {
      // A balancer on a busy machine may notice too late and keep sending.
      [`no request fails while a replica is replaced (${countStatuses(lost)})`]:
        lost.length === 0 || slowestCheckMs > drainMs / 2,
      [`the replaced replica exits with 0 (${code})`]: code === 0,
    },
    timing: {
      [`every request gets a database connection during the replacement (${countStatuses(wrong)}, slowest health check ${Math.round(slowestCheckMs)} ms)`]:
        wrong.length === 0,
    },
  };
}
