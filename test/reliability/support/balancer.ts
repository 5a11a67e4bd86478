import { pause } from '../row.ts';
import type { Answer, Asked, Client } from './client.ts';

/** Round-robin load balancer over replicas whose /ready is 200, polled every `every` ms; never retries a request. */
export function openBalancer(client: Client, { every = 100 }: { every?: number } = {}) {
  let replicas: { base: string; isReady: boolean }[] = [];
  let turn = 0;
  const closed = new AbortController();
  const look = async () => {
    await Promise.all(
      replicas.map(async (replica) => {
        replica.isReady = (await client.get(`${replica.base}/ready`, { patience: 3_000 })).status === 200;
      }),
    );
  };
  let slowest = 0;
  const looking = (async () => {
    while (!closed.signal.aborted) {
      const begun = performance.now();
      await look();
      slowest = Math.max(slowest, performance.now() - begun);
      await pause(every);
    }
  })();
  return {
    add: (base: string) => void replicas.push({ base, isReady: true }),
    remove: (base: string) => void (replicas = replicas.filter((replica) => replica.base !== base)),
    isReady: (base: string) => replicas.some((replica) => replica.base === base && replica.isReady),
    ask: (path: string, how: Asked = {}): Promise<Answer> => {
      const ready = replicas.filter(({ isReady }) => isReady);
      const among = ready.length > 0 ? ready : replicas;
      turn += 1;
      return client.ask(`${among[turn % among.length]!.base}${path}`, how);
    },
    /** The longest health check round, in milliseconds. */
    slowest: () => slowest,
    close: async () => {
      closed.abort();
      await looking;
    },
  };
}
