import { freePort } from '../support/ports.ts';
import type { Case } from './cases.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { median, percentile } from './figures.ts';
import { withServer } from './server.ts';
import { processMicroseconds } from './usage.ts';

/**
 * Processor time of the server for a response, in microseconds, and relative to a server that observes nothing;
 * `control` is that of a second such server, so its distance to 1 is the error of the measurement.
 */
type Observed = { name: string; microseconds: number; processor: number; control: number };
export type ObservabilityFigures = {
  observed: Observed[];
  scrape: { series: number; bytes: number; medianMs: number; p99Ms: number; processorMs: number };
};

type Length = { rounds: number; seconds: number };
type Environment = Record<string, string>;
type Server = { base: string; pid: number };

/** Short turns: on a shared machine the load of others changes within seconds. */
const responsesPerTurn = 20;
const turnsPerRound = 30;
/** Half of them before the measurement, until the code is compiled. */
const scrapes = 1_000;

/**
 * Measures cold lists with metrics, and cached lists with the log of requests, in turns with servers without; and how
 * long a scrape takes once every operation of the document has been requested.
 */
export async function measureObservability(
  subject: Subject,
  { apiKey }: Dataset,
  cases: Case[],
  { rounds }: Length,
): Promise<ObservabilityFigures> {
  const ADMIN_PORT = String(await freePort());
  const headers = { 'x-api-key': apiKey };
  const logged = (LOG_REQUESTS: string) => ({ LOG_LEVEL: 'info', LOG_FORMAT: 'json', LOG_REQUESTS });
  const cold = { RESPONSE_CACHE_MB: '0' };
  const comparisons: [string, Environment, Environment][] = [
    ['cold, with metrics and a scrape a second', cold, { ...cold, ADMIN_PORT }],
    ['cached, LOG_REQUESTS=errors', logged('off'), logged('errors')],
    ['cached, LOG_REQUESTS=all', logged('off'), logged('all')],
  ];
  const observed: Observed[] = [];
  for (const [what, without, environment] of comparisons) {
    for (const { name, path } of cases) {
      const figures = await withServers(subject, [without, environment, without], async (servers) => {
        const stopScraping = environment['ADMIN_PORT'] ? scrapeEverySecond(environment['ADMIN_PORT']) : undefined;
        return compare(servers, path, headers, rounds * turnsPerRound).finally(stopScraping);
      });
      observed.push({ name: `${name}, ${what}`, ...figures });
    }
  }
  const scrape = await withServer(subject, { ADMIN_PORT }, (server) =>
    measureScrapes(server, metricsAt(ADMIN_PORT), headers),
  );
  return { observed, scrape };
}

async function withServers<T>(
  subject: Subject,
  [environment, ...others]: Environment[],
  work: (servers: Server[]) => Promise<T>,
): Promise<T> {
  if (environment === undefined) return work([]);
  const workWith = (server: Server) => withServers(subject, others, (servers) => work([server, ...servers]));
  return withServer(subject, environment, workWith, { stdout: 'ignore' });
}

/** More often than Prometheus does by default. */
function scrapeEverySecond(port: string) {
  const scrape = () =>
    fetch(metricsAt(port)).then(
      (response) => response.text(),
      () => undefined,
    );
  const timer = setInterval(() => void scrape(), 1_000);
  return () => clearInterval(timer);
}

const metricsAt = (port: string) => `http://127.0.0.1:${port}/metrics`;

async function compare(servers: Server[], path: string, headers: Record<string, string>, turns: number) {
  const read = async ({ base }: Server, count: number) => {
    for (let n = 0; n < count; n += 1) {
      const response = await fetch(base + path, { headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    }
  };
  for (const server of servers) await read(server, 10 * responsesPerTurn);
  const runs: number[][] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const costs = servers.map(() => 0);
    const order = [...servers.keys()];
    for (const n of turn % 2 === 0 ? order : order.toReversed()) {
      const before = processMicroseconds(servers[n]!.pid);
      await read(servers[n]!, responsesPerTurn);
      costs[n] = (processMicroseconds(servers[n]!.pid) - before) / responsesPerTurn;
    }
    runs.push(costs);
  }
  const relative = (n: number) => median(runs.map((costs) => costs[n]! / costs[0]!));
  return { microseconds: median(runs.map(([cost]) => cost!)), processor: relative(1), control: relative(2) };
}

async function measureScrapes({ base, pid }: Server, url: string, headers: Record<string, string>) {
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: Record<string, object> };
  for (const [path, methods] of Object.entries(paths)) {
    const target = base + path.replaceAll(/\{[^}]*\}/g, '999999999');
    for (const method of Object.keys(methods))
      await fetch(target, { method: method.toUpperCase(), headers }).then((response) => response.arrayBuffer());
  }
  const times: number[] = [];
  let text = '';
  for (let n = 0; n < scrapes / 2; n += 1) await (await fetch(url)).text();
  const before = processMicroseconds(pid);
  for (let n = 0; n < scrapes / 2; n += 1) {
    const startedAt = performance.now();
    text = await (await fetch(url)).text();
    times.push(performance.now() - startedAt);
  }
  const processorMs = (processMicroseconds(pid) - before) / 1_000 / (scrapes / 2);
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  return { series, bytes: text.length, medianMs: median(times), p99Ms: percentile(times, 99), processorMs };
}
