import autocannon from 'autocannon';
import type { Figures, Load } from './load.ts';

process.on('message', (load: Load) => void runLoad(load));

/** Unique across requests and runs. */
const run = process.pid * 1_000_000;

async function runLoad({ url, method, headers, body, ids = [0], others, othersShare = 0, connections, seconds }: Load) {
  const statuses: Record<string, number> = {};
  let sent = 0;
  const { pathname, search } = new URL(url);
  const setupRequest = (request: autocannon.Request) => {
    sent += 1;
    const id = ids[Math.floor(Math.random() * ids.length)]!;
    const filled = (text: string) => text.replaceAll('{n}', String(run + sent)).replaceAll('{id}', String(id));
    const other = others?.[Math.floor(Math.random() * others.length)];
    const path = other !== undefined && Math.random() < othersShare ? filled(other) : pathname + search;
    return { ...request, path, ...(body === undefined ? {} : { body: filled(body) }) };
  };
  const started = performance.now();
  const result = await new Promise<autocannon.Result>((done, failed) => {
    const options = { url, connections, duration: seconds, requests: [{ method, headers, setupRequest }] };
    const instance = autocannon(options, (error, ended) => (error ? failed(error as Error) : done(ended)));
    instance.on('response', (_client, status) => (statuses[status] = (statuses[status] ?? 0) + 1));
  });
  if (result.errors > 0) statuses['errors'] = result.errors;
  const duration = (performance.now() - started) / 1_000;
  const { latency, requests } = result;
  const figures: Figures = { perSecond: requests.total / duration, p50: latency.p50, p99: latency.p99, statuses };
  process.send!(figures, () => process.exit());
}
