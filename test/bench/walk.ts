import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { inTurns } from './figures.ts';
import { withServer } from './server.ts';
import { secondsOf, secondsOfFamily } from './usage.ts';

const warmUp = 300;
const atLeast = 2_000;
const perTurn = 250;

type Side = [Subject, Dataset];
type Answer = { pagination: { total_pages: number } };
/** Reads the next pages; returns the cost per page in ms of Node and PostgreSQL. */
type Walker = { pages: number; walk(count: number): Promise<number> };

/** Cost per page of reading a whole list by `page`, alternating between both sizes. */
export async function measureWalks(large: Side, small: Side, path: string) {
  return withWalker(large, path, (ofLarge) =>
    withWalker(small, path, async (ofSmall) => {
      const turns: [number, number][] = [];
      for (let asked = 0; asked < Math.max(atLeast, ofLarge.pages); asked += perTurn) {
        turns.push(
          await inTurns(
            turns.length,
            () => ofLarge.walk(perTurn),
            () => ofSmall.walk(perTurn),
          ),
        );
      }
      // Averaged over all rounds, since each round reads another part of the list.
      const mean = (figures: number[]) => figures.reduce((sum, ms) => sum + ms, 0) / figures.length;
      const [ms, before] = [mean(turns.map(([first]) => first)), mean(turns.map(([, second]) => second))];
      return {
        large: { pages: ofLarge.pages, ms },
        small: { pages: ofSmall.pages, ms: before },
        growth: ms / before,
      };
    }),
  );
}

async function withWalker<T>([subject, { apiKey }]: Side, path: string, work: (walker: Walker) => Promise<T>) {
  const headers = { 'x-api-key': apiKey };
  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, async ({ base, pid }) => {
    async function ask(page: number) {
      const answer = await fetch(`${base}${path}?page=${page}`, { headers });
      if (!answer.ok) throw new Error(`page ${page} was ${answer.status}`);
      return ((await answer.json()) as Answer).pagination.total_pages;
    }
    const pages = await ask(1);
    for (let n = 0; n < warmUp; n += 1) await ask(1 + (n % pages));
    let at = 0;
    return work({
      pages,
      async walk(count) {
        const [node, postgres] = [secondsOf(pid), secondsOfFamily(subject.pid)];
        for (let n = 0; n < count; n += 1) await ask(1 + (at++ % pages));
        const seconds = secondsOf(pid) - node + (secondsOfFamily(subject.pid) - postgres);
        return (seconds * 1_000) / count;
      },
    });
  });
}
