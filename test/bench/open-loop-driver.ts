import { Agent, request } from 'node:http';
import { percentile } from './figures.ts';
import type { DriverLoad, LoopFigures } from './open-loop.ts';

type Timed = DriverLoad & { warmUpSeconds: number };

process.on('message', (load: Timed) => void run(load).then((figures) => process.send!(figures, () => process.exit())));

/** Unique across requests and runs. */
const first = process.pid * 1_000_000;

async function run({ targets, perSecond, seconds, connections, warmUpSeconds }: Timed): Promise<LoopFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const started = performance.now();
  const measuredFrom = started + warmUpSeconds * 1_000;

  const send = (n: number, intended: number) =>
    new Promise<void>((done) => {
      const { url, method, headers, body } = targets[n % targets.length]!;
      const fill = (text: string) => text.replaceAll('{n}', String(first + n));
      const end = (status: string) => {
        if (intended >= measuredFrom) latencies.push(performance.now() - intended);
        statuses[status] = (statuses[status] ?? 0) + 1;
        done();
      };
      const sent = request(fill(url), { agent, method, headers }, (response) => {
        response.resume();
        response.on('end', () => end(String(response.statusCode)));
      });
      sent.on('error', () => end('errors'));
      sent.end(body === undefined ? undefined : fill(body));
    });

  const duration = warmUpSeconds + seconds;
  if (perSecond === undefined) await sendClosed(send, connections, started + duration * 1_000);
  else await sendOpen(send, perSecond, duration, started);
  agent.destroy();
  return {
    perSecond: latencies.length / ((performance.now() - measuredFrom) / 1_000),
    ...{ p50: percentile(latencies, 50), p95: percentile(latencies, 95) },
    ...{ p99: percentile(latencies, 99), p999: percentile(latencies, 99.9) },
    statuses,
  };
}

type Send = (n: number, intended: number) => Promise<void>;

/** Each connection sends its next request after a response. */
async function sendClosed(send: Send, connections: number, end: number) {
  let n = 0;
  const repeat = async () => {
    while (performance.now() < end) await send((n += 1), performance.now());
  };
  await Promise.all(Array.from({ length: connections }, repeat));
}

/** Sends at a constant rate even if responses are late, so that a latency includes the wait for a connection. */
async function sendOpen(send: Send, perSecond: number, seconds: number, started: number) {
  const total = Math.round(perSecond * seconds);
  const pending: Promise<void>[] = [];
  while (pending.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - started) * perSecond) / 1_000));
    for (let n = pending.length; n < due; n += 1) pending.push(send(n, started + (n * 1_000) / perSecond));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
}
