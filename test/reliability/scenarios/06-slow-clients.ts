import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pause, percentile, type Scenario, type Run } from '../scenario.ts';
import { uniqueQuery } from '../support/unique-query.ts';
import { createClient, type Client } from '../support/client.ts';
import { startPostgres } from '../support/postgres.ts';
import { requestHead } from '../support/raw.ts';
import { firstKey, firstProvider, startServer, type Server } from '../support/server.ts';

const limits = { closed: 20_000, p99: 250 };
const key = { 'x-api-key': firstKey };

/** A way to hold a connection: the first bytes and the bytes sent repeatedly. */
type HoldMethod = { name: string; first: string; repeated?: string };
const methods: HoldMethod[] = [
  { name: 'slow headers', first: 'GET /v2/courses HTTP/1.1\r\nhost: localhost\r\nx-slow: ', repeated: 'x' },
  {
    name: 'slow bodies',
    first: requestHead('POST', '/v2/courses', { ...key, 'content-type': 'application/json', 'content-length': '1000' }),
    repeated: ' ',
  },
  { name: 'silent connections', first: '' },
  { name: 'connections idle after a response', first: requestHead('GET', '/v2/durations', key) },
];

/** Opens connections of a kind; returns after how many milliseconds each was closed, or Infinity. */
function holdConnections(
  run: Run,
  { port }: Server,
  method: HoldMethod,
  count: number,
  onEnd: () => unknown = () => undefined,
) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      await pause(run.random() * 1_000);
      const socket = connect(port, '127.0.0.1');
      run.onCleanup(() => socket.destroy());
      const elapsed = await timeUntilClosed(socket, method);
      onEnd();
      return { method, elapsed };
    }),
  );
}

async function timeUntilClosed(socket: Socket, { first, repeated }: HoldMethod) {
  socket.on('error', () => undefined).resume();
  const startedAt = performance.now();
  const closed = once(socket, 'close').then(() => performance.now() - startedAt);
  if (first !== '') socket.write(first);
  const timer = repeated === undefined ? undefined : setInterval(() => socket.write(repeated), 1_000);
  const late = pause(limits.closed + 1_000).then(() => Infinity);
  return Promise.race([closed, late]).finally(() => clearInterval(timer));
}

/** Latencies of a well-behaved client until stopped. */
async function measureLatency(client: Client, { base }: Server, stop: AbortSignal) {
  const elapsed: number[] = [];
  let refused = 0;
  for (let n = 0; !stop.aborted; n += 1) {
    const list = n % 2 === 0 ? 'courses' : 'orders/products';
    const [response] = await Promise.all([client.get(`${base}/v2/${list}?limit=10&${uniqueQuery()}`), pause(20)]);
    elapsed.push(response.elapsed);
    if (response.status !== 200) refused += 1;
  }
  return { p99: percentile(elapsed, 0.99), count: elapsed.length, refused };
}

const scenario: Scenario = {
  name: 'slow clients',
  quick: false,
  async run(run) {
    const count = run.quick ? 100 : 500;
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    await postgres.create('patient');
    const env = (database: string) => ({ DATABASE_URL: postgres.url(database), LOG_LEVEL: 'error', ...firstProvider });
    const server = await startServer(run, env('school'));
    // Negative control: a server without timeouts.
    const longTimeouts = {
      REQUEST_TIMEOUT_MS: '300000',
      KEEP_ALIVE_TIMEOUT_MS: '300000',
    };
    const withoutTimeouts = await startServer(run, { ...env('patient'), ...longTimeouts });

    const client = createClient(firstKey);
    run.onCleanup(client.close);
    for (let n = 0; n < 20; n += 1) await client.post(`${server.base}/v2/courses`, { title: `Course ${n}` });

    const stop = new AbortController();
    const latency = measureLatency(client, server, stop.signal);
    const connectionCount = (method: HoldMethod) => (method.repeated === undefined ? count / 2 : count);
    let closedWithoutTimeouts = 0;
    for (const method of methods)
      void holdConnections(run, withoutTimeouts, method, 2, () => (closedWithoutTimeouts += 1));
    const held = await Promise.all(
      methods.map((method) => holdConnections(run, server, method, connectionCount(method))),
    );
    const isDetected = closedWithoutTimeouts === 0;
    stop.abort();
    const { p99, count: requestCount, refused } = await latency;

    // Also a server that is paused briefly.
    const stopPaused = new AbortController();
    const pausedLatency = measureLatency(client, server, stopPaused.signal);
    server.signal('SIGSTOP');
    await pause(limits.p99 + 100);
    server.signal('SIGCONT');
    stopPaused.abort();
    const paused = await pausedLatency;

    const stillOpen = held.map((list) => list.filter((one) => one.elapsed > limits.closed));
    return {
      figures: [
        ...held.map((list, n) => {
          const last = Math.max(...list.map((one) => one.elapsed)) / 1_000;
          return `${list.length} ${methods[n]!.name} closed within ${last.toFixed(1)} s`;
        }),
        `p99 of ${requestCount} concurrent requests ${p99.toFixed(1)} ms`,
        `control: a server without timeouts closes none, a pause takes ${paused.p99.toFixed(0)} ms`,
      ].join(', '),
      failures: [
        ...stillOpen.flatMap((list) => (list.length > 0 ? [`${list.length} ${list[0]!.method.name} stay open`] : [])),
        ...(p99 < limits.p99 ? [] : [`concurrent requests take ${Math.round(p99)} ms`]),
        ...(refused === 0 ? [] : [`${refused} concurrent requests were rejected`]),
        ...(isDetected ? [] : ['control: missing timeouts not detected']),
        ...(paused.p99 >= limits.p99 ? [] : ['control: a paused server not detected']),
      ],
    };
  },
};
export default scenario;
