import { pause } from '../scenario.ts';
import type { HttpResponse, RequestOptions, Client } from './client.ts';

/** Round-robin load balancer over replicas whose /ready is 200, polled every `intervalMs`; never retries a request. */
export function openBalancer(client: Client, { intervalMs = 100 }: { intervalMs?: number } = {}) {
  let replicas: { base: string; isReady: boolean }[] = [];
  let next = 0;
  const closed = new AbortController();
  const checkHealth = async () => {
    await Promise.all(
      replicas.map(async (replica) => {
        replica.isReady = (await client.get(`${replica.base}/ready`, { timeoutMs: 3_000 })).status === 200;
      }),
    );
  };
  let slowestCheckMs = 0;
  const polling = (async () => {
    while (!closed.signal.aborted) {
      const startedAt = performance.now();
      await checkHealth();
      slowestCheckMs = Math.max(slowestCheckMs, performance.now() - startedAt);
      await pause(intervalMs);
    }
  })();
  return {
    add: (base: string) => void replicas.push({ base, isReady: true }),
    remove: (base: string) => void (replicas = replicas.filter((replica) => replica.base !== base)),
    isReady: (base: string) => replicas.some((replica) => replica.base === base && replica.isReady),
    send: (path: string, options: RequestOptions = {}): Promise<HttpResponse> => {
      const ready = replicas.filter(({ isReady }) => isReady);
      const candidates = ready.length > 0 ? ready : replicas;
      next += 1;
      return client.send(`${candidates[next % candidates.length]!.base}${path}`, options);
    },
    /** The longest health check round, in milliseconds. */
    slowestCheckMs: () => slowestCheckMs,
    close: async () => {
      closed.abort();
      await polling;
    },
  };
}
