import { pause } from '../row.ts';
import type { Answer, Asked, Client } from './client.ts';

/** Sends to replicas in turn, as long as their /ready says 200; it never sends anything twice. */
export function openBalancer(client: Client) {
  let replicas: { base: string; isReady: boolean }[] = [];
  let turn = 0;
  const closed = new AbortController();
  const look = async () => {
    await Promise.all(
      replicas.map(async (replica) => {
        replica.isReady = (await client.get(`${replica.base}/ready`, { patience: 500 })).status === 200;
      }),
    );
  };
  const looking = (async () => {
    while (!closed.signal.aborted) {
      await look();
      await pause(100);
    }
  })();
  return {
    add: (base: string) => void replicas.push({ base, isReady: true }),
    remove: (base: string) => void (replicas = replicas.filter((replica) => replica.base !== base)),
    isReady: (base: string) => replicas.some((replica) => replica.base === base && replica.isReady),
    ask: (path: string, how: Asked = {}): Promise<Answer> => {
      const ready = replicas.filter(({ isReady }) => isReady);
      turn += 1;
      const chosen = ready[turn % ready.length] ?? replicas[0]!;
      return client.ask(`${chosen.base}${path}`, how);
    },
    close: async () => {
      closed.abort();
      await looking;
    },
  };
}
