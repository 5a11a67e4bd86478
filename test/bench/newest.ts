import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { alternate, median } from './figures.ts';
import { withServer } from './server.ts';
import { processSeconds, processTreeSeconds } from './usage.ts';

const warmUp = 100;
const pagesPerRound = 50;
const byId = '/v2/orders?limit=250';
const newest = `${byId}&order_by=created_at&order_direction=desc`;

/** Processor time in ms of Node and PostgreSQL for a page of 250 orders, by id and the newest. */
export async function measureNewest(subject: Subject, { apiKey }: Dataset, { rounds }: { rounds: number }) {
  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, async ({ base, pid }) => {
    const read = async (path: string, pages: number) => {
      const [node, postgres] = [processSeconds(pid), processTreeSeconds(subject.pid)];
      for (let n = 0; n < pages; n += 1) {
        const response = await fetch(base + path, { headers: { 'x-api-key': apiKey } });
        const orders = (await response.json()) as unknown[];
        if (orders.length !== 250) throw new Error(`${path} returned ${response.status} with ${orders.length} orders`);
      }
      return ((processSeconds(pid) - node + processTreeSeconds(subject.pid) - postgres) * 1_000) / pages;
    };
    for (const path of [byId, newest]) await read(path, warmUp);
    const pairs: [number, number][] = [];
    for (let n = 0; n < Math.max(4, rounds * 2); n += 1)
      pairs.push(
        await alternate(
          n,
          () => read(newest, pagesPerRound),
          () => read(byId, pagesPerRound),
        ),
      );
    const [msNewest, msById] = [median(pairs.map(([first]) => first)), median(pairs.map(([, second]) => second))];
    return { msNewest, msById, ratio: median(pairs.map(([first, second]) => first / second)) };
  });
}
