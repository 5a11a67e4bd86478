import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pause, percentile, type Row, type Run } from '../row.ts';
import { anew } from '../support/anew.ts';
import { clientOf, type Client } from '../support/client.ts';
import { startPostgres } from '../support/postgres.ts';
import { headOf } from '../support/raw.ts';
import { firstKey, firstProvider, startServer, type Server } from '../support/server.ts';

const bars = { closed: 20_000, p99: 250 };
const key = { 'x-api-key': firstKey };

/** A way to hold a connection: the first bytes and the bytes sent repeatedly. */
type Way = { name: string; first: string; drip?: string };
const ways: Way[] = [
  { name: 'slow headers', first: 'GET /v2/courses HTTP/1.1\r\nhost: localhost\r\nx-slow: ', drip: 'x' },
  {
    name: 'slow bodies',
    first: headOf('POST', '/v2/courses', { ...key, 'content-type': 'application/json', 'content-length': '1000' }),
    drip: ' ',
  },
  { name: 'connections that say nothing', first: '' },
  { name: 'connections idle after an answer', first: headOf('GET', '/v2/durations', key) },
];

/** Opens connections of a kind; returns after how many milliseconds each was closed, or Infinity. */
function hold(run: Run, { port }: Server, way: Way, count: number, onEnd: () => unknown = () => undefined) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      await pause(run.random() * 1_000);
      const socket = connect(port, '127.0.0.1');
      run.afterwards(() => socket.destroy());
      const took = await lifeOf(socket, way);
      onEnd();
      return { way, took };
    }),
  );
}

async function lifeOf(socket: Socket, { first, drip }: Way) {
  socket.on('error', () => undefined).resume();
  const begun = performance.now();
  const closed = once(socket, 'close').then(() => performance.now() - begun);
  if (first !== '') socket.write(first);
  const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), 1_000);
  const late = pause(bars.closed + 1_000).then(() => Infinity);
  return Promise.race([closed, late]).finally(() => clearInterval(dripping));
}

/** Latencies of a well-behaved client until stopped. */
async function decent(client: Client, { base }: Server, over: AbortSignal) {
  const took: number[] = [];
  let refused = 0;
  for (let n = 0; !over.aborted; n += 1) {
    const list = n % 2 === 0 ? 'courses' : 'orders/products';
    const [answer] = await Promise.all([client.get(`${base}/v2/${list}?limit=10&${anew()}`), pause(20)]);
    took.push(answer.took);
    if (answer.status !== 200) refused += 1;
  }
  return { p99: percentile(took, 0.99), count: took.length, refused };
}

const row: Row = {
  name: 'slow clients',
  quick: true,
  async run(run) {
    const count = run.quick ? 100 : 500;
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    await postgres.create('patient');
    const env = (database: string) => ({ DATABASE_URL: postgres.url(database), LOG_LEVEL: 'error', ...firstProvider });
    const server = await startServer(run, env('school'));
    // Negative control: a server without timeouts.
    const never = { HEADERS_TIMEOUT_MS: '300000', REQUEST_TIMEOUT_MS: '300000', KEEP_ALIVE_TIMEOUT_MS: '300000' };
    const patient = await startServer(run, { ...env('patient'), ...never });

    const client = clientOf(firstKey);
    run.afterwards(client.close);
    for (let n = 0; n < 20; n += 1) await client.post(`${server.base}/v2/courses`, { title: `Course ${n}` });

    const over = new AbortController();
    const good = decent(client, server, over.signal);
    const half = (way: Way) => (way.drip === undefined ? count / 2 : count);
    let closedByPatient = 0;
    for (const way of ways) void hold(run, patient, way, 2, () => (closedByPatient += 1));
    const held = await Promise.all(ways.map((way) => hold(run, server, way, half(way))));
    const isFound = closedByPatient === 0;
    over.abort();
    const { p99, count: asked, refused } = await good;

    // Also a server that is paused briefly.
    const still = new AbortController();
    const stopped = decent(client, server, still.signal);
    server.signal('SIGSTOP');
    await pause(bars.p99 + 100);
    server.signal('SIGCONT');
    still.abort();
    const standstill = await stopped;

    const stayed = held.map((those) => those.filter((one) => one.took > bars.closed));
    return {
      figures: [
        ...held.map((those, n) => {
          const last = Math.max(...those.map((one) => one.took)) / 1_000;
          return `${those.length} ${ways[n]!.name} closed within ${last.toFixed(1)} s`;
        }),
        `a good client's p99 of ${asked} ${p99.toFixed(1)} ms`,
        `control: a patient server closes none, a standstill ${standstill.p99.toFixed(0)} ms`,
      ].join(', '),
      faults: [
        ...stayed.flatMap((those) => (those.length > 0 ? [`${those.length} ${those[0]!.way.name} stay`] : [])),
        ...(p99 < bars.p99 ? [] : [`a good client waits ${Math.round(p99)} ms`]),
        ...(refused === 0 ? [] : [`a good client is refused ${refused} times`]),
        ...(isFound ? [] : ['a server that waits for ever is not found']),
        ...(standstill.p99 >= bars.p99 ? [] : ['a server that stands still is not found']),
      ],
    };
  },
};
export default row;
