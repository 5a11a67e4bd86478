import { pause, percentile } from '../scenario.ts';
import type { Client } from './client.ts';

/** Sends a request every 10 ms until stopped; returns the p99 in milliseconds, Infinity for failed requests. */
export function startGoodClient(base: string, client: Client) {
  const times: number[] = [];
  let isOver = false;
  async function send() {
    while (!isOver) {
      const { status, elapsed } = await client.get(`${base}/v2/courses?limit=10`, { timeoutMs: 2_000 });
      times.push(status === 200 ? elapsed : Infinity);
      await pause(10);
    }
  }
  const sending = send();
  return async () => {
    isOver = true;
    await sending;
    return percentile(times, 0.99);
  };
}

export async function measureGoodClient(base: string, client: Client, milliseconds: number) {
  const stop = startGoodClient(base, client);
  await pause(milliseconds);
  return stop();
}

/** Compares the good client's p99 beside an attack with a limit in milliseconds, or three times its own alone. */
export const isHarmless = (alone: number, beside: number, later: number) => beside <= Math.max(later, 3 * alone);
